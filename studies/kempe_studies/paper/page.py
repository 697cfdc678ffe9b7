"""The page: tables, figures and conclusions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

import kempe
from kempe_studies.paper import figures, jump, published, speed, torque
from kempe_studies.paper.markup import (
    Block,
    Cell,
    Heading,
    Paragraph,
    Picture,
    Points,
    Table,
    between,
    html_page,
    markdown_page,
    percent,
    signed,
    words,
)
from kempe_studies.paper.names import METHODS
from kempe_studies.paper.published import Comparison, Scaling
from kempe_studies.paper.speed import Key, exponent
from kempe_studies.paper.study import Results
from kempe_studies.paper.torque import root_mean_square

ROBOT_NAMES = tuple(published.ROBOTS.values())

Row = list[str | Cell]


class Page:
    """Writes results as a page into a folder."""

    def __init__(self, results: Results, folder: Path) -> None:
        self.results, self.folder = results, folder

    def write(self) -> Path:
        """Writes index.html, which is self-contained, and index.md with its figures. Uses the
        default style of matplotlib, whatever the user's settings."""
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            blocks = self.blocks()
        (self.folder / "index.md").write_text(markdown_page(blocks), encoding="utf-8")
        path = self.folder / "index.html"
        path.write_text(html_page("Kempe and the paper", blocks), encoding="utf-8")
        return path

    def write_numbers(self) -> None:
        """results.json"""
        (self.folder / "results.json").write_text(
            json.dumps(self.results.report(), indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def blocks(self) -> list[Block]:
        blocks = [*self.head(), *self.in_short(), *self.how()]
        for comparison in published.COMPARISONS:
            blocks += self.comparison(comparison)
        blocks += [*self.scaling(), *self.torques(), *self.robot_errors(), *self.jumps(),
                   *self.sources()]
        return blocks

    def head(self) -> list[Block]:
        blocks: list[Block] = [Heading("Results of the paper, reproduced", level=1), Paragraph(
            f"""The results section of {published.AUTHORS}, “{published.TITLE}” (2023), reproduced
            with Kempe and compared with the paper's values.""")]
        if self.results.quick:
            blocks.append(Paragraph("""This is the quick run, with few repetitions and short chains.
                It shows that everything works; its times are not reliable."""))
        return blocks

    # --- conclusions -----------------------------------------------------------------------------

    def in_short(self) -> list[Block]:
        return [Heading("Summary"), Points([
            self.cost_of_exactness(), self.compared_with_the_program(),
            *self.compared_with_pinocchio(), *self.when_to_approximate(), self.consequence()])]

    def percents(self, algorithm: str, method: str) -> dict[str, float]:
        """More (+) or less (−) time than the exact recursion, by robot."""
        return {robot: 100 * (self.results.robots.ratio(Key(algorithm, robot, method)).median - 1)
                for robot in published.ROBOTS}

    def cost_of_exactness(self) -> str:
        def more(percents: Sequence[float]) -> dict[str, float]:
            """Extra time of the exact method in percent, from that of the approximation."""
            return {robot: 100 * (1 / (1 + value / 100) - 1)
                    for robot, value in zip(published.ROBOTS, percents, strict=True)}
        approximate = self.percents("forward_dynamics", "approximate")
        ours = more(list(approximate.values()))
        theirs = more(published.FORWARD_DYNAMICS.percent["approximate"])
        tello, their_tello, jvrc1 = ours.pop("tello"), theirs.pop("tello"), ours.pop("jvrc1")
        time = self.results.robots.time(Key("forward_dynamics", "tello", "cluster")).median
        others = {method: between(list(self.percents("forward_dynamics", method).values()))
                  for method in ("projection", "lagrange")}
        robot = kempe.robots.load("jvrc1")
        rotors = sum("rotor" in body.name for body in robot.mechanism.bodies)
        return f"""Cost of exactness: where motors drive their joints through gears and belts, exact
            forward dynamics takes {between(list(ours.values()))} % more time than the
            approximation, and {jvrc1:.0f} % more for JVRC-1, where
            {rotors - len(robot.folded_rotors)} of {rotors} rotors are not symmetric about their
            axes and remain bodies (the paper: {between(list(theirs.values()))} %). Tello's legs
            have loops that must be solved at every state, which the approximation never does:
            {tello:.0f} % more, {1e6 * time:.1f} µs in total (the paper: {their_tello:.0f} %, but
            there the loops are solved before timing starts). The other exact methods take
            {others["projection"]} % (projection) and {others["lagrange"]} % (Lagrange multipliers)
            more time than the recursion."""

    def compared_with_the_program(self) -> str:
        parts = [1e6 * self.results.robots.time(Key(comparison.algorithm, robot, "cluster")).median
                 / theirs for comparison in published.COMPARISONS
                 for robot, theirs in zip(published.ROBOTS, comparison.microseconds["cluster"],
                                          strict=True)]
        return f"""Kempe's exact recursions take {between(parts, ".2f")} of the time of the paper's
            program. The machines differ, so this shows the order of magnitude only."""

    def compared_with_pinocchio(self) -> list[str]:
        """Empty if Pinocchio was not compiled for this machine."""
        parts: dict[str, list[float]] = {}
        for method in ("pinocchio", "pinocchio_exact"):
            keys = [Key("forward_dynamics", robot, method) for robot in published.ROBOTS]
            parts[method] = [1 / self.results.robots.ratio(key).median for key in keys
                             if key in self.results.robots]
        if not parts["pinocchio"] or not self.results.peer_at_its_best:
            return []
        exact = ("" if not parts["pinocchio_exact"] else f""", and
            {between(parts["pinocchio_exact"], ".2f")} of the time of its fastest exact method""")
        return [f"""Compared with Pinocchio, in the same run: Kempe's exact forward dynamics,
            including rotors and loops, takes {between(parts["pinocchio"], ".2f")} of the time of
            Pinocchio's recursion on the approximate tree without them{exact}."""]

    def when_to_approximate(self) -> tuple[str, str]:
        errors = self.results.errors
        legged = [robot for robot in errors if not robot.endswith("chain")]
        torques = self.results.torques.at_hertz
        knee, ankle = (torques.error("approximate")[joint] / torques.largest[joint]
                       for joint in (torque.KNEE, torque.ANKLE))

        def whole(method: str) -> str:
            return between([100 * errors[robot][method].all_joints for robot in legged], ".1f")
        return (
            f"""When the approximation is good enough: where each rotor drives one joint and its
            reflected inertia is small compared with that of the links, and where the rotor's mass
            is kept with the body that carries it. The error is then
            {percent(errors["geared_chain"]["mass_kept"].worst_joint)} of the torque at the worst
            joint of the geared chain, whose rotors are very light compared with its links of one
            kilogram, and {percent(errors["jvrc1"]["mass_kept"].worst_joint)} at that of JVRC-1.
            Over all joints of the four legged robots the error is {whole("mass_kept")} %; if the
            rotors' mass is dropped, as in the paper, {whole("approximate")} %.""",
            f"""When it is not: where a belt or a differential drives two joints at once, and at the
            light end of a limb. At the ankle of the MIT Humanoid the error is
            {percent(errors["mit_humanoid"]["mass_kept"].worst_joint)} of the torque in random
            motions, and {percent(ankle)} of the peak torque in the paper's motion (knee:
            {percent(knee)}). Leaving the rotors out altogether causes errors of up to
            {percent(max(errors[robot]["unconstrained"].worst_joint for robot in legged))} of a
            joint's torque.""")

    def consequence(self) -> str:
        soft = {method: self.find_jump(method, "soft") for method in torque.METHODS}
        foot = {method: 1e3 * one.foot_error.max() for method, one in soft.items()}
        apex = {method: signed(1e3 * (one.height.max() - soft["cluster"].height.max()))
                for method, one in soft.items()}
        stiff = self.find_jump("approximate", "stiff")
        exact, added = (root_mean_square(one.feedback).max()
                        for one in (self.find_jump("cluster", "stiff"), stiff))
        return f"""Effect on a controller: in a jump with soft feedback, the foot error is up to
            {foot["cluster"]:.1f} mm with exact feed-forward torques, {foot["approximate"]:.0f} mm
            with approximate and {foot["unconstrained"]:.0f} mm with unconstrained ones, and the
            apex of the torso is off by {apex["approximate"]} and {apex["unconstrained"]} mm. Stiff
            feedback keeps the foot within {1e3 * stiff.foot_error.max():.0f} mm with approximate
            torques too, but has to add {added:.1f} N·m rms at a joint, compared with {exact:.1f}
            N·m with exact torques."""

    # --- times -----------------------------------------------------------------------------------

    def how(self) -> list[Block]:
        rounds = min(self.results.robots.repetitions, self.results.chains.repetitions)
        facts = [[words(name), words(value)] for name, value in self.results.machine.items()]
        return [
            Heading("Method"), Paragraph(
                f"""All methods use the same kernels, in one process and on one thread. Robots,
                methods and libraries are measured alternately in random order; times are medians of
                at least {rounds} rounds, ± half the interquartile range, and percentages are
                medians of the ratios within a round. Calls cycle through {speed.STATES} random
                states (chains: {speed.CHAIN_STATES}), all of them in every round. Times are those
                of C++ calls."""),
            Paragraph(
                """Percentages are given relative to two references: Kempe's recursion as shipped,
                which folds rotors that are symmetric about their axes into the bodies that carry
                them, and the same recursion with all rotors as bodies, as in the paper. The first
                is what users get, the second is comparable with the paper. The remaining
                differences are due to the implementations: Kempe's recursions have kernels of fixed
                size, and the mass matrices of the other methods are factored along the tree."""),
            Paragraph(
                """“Approximate” is the recursion on the open tree of links, with the rotors'
                reflected inertia on the diagonal, as a model of its own: it never solves a loop.
                For Tello, whose independent coordinates are motor angles, the time including the
                conversion from motor to link coordinates is listed too. “Projection” and “Lagrange
                multipliers” are exact and exploit the sparsity of the tree."""),
            Paragraph(self.results.peer), Table(["", ""], facts)]

    def comparison(self, comparison: Comparison) -> list[Block]:
        path = self.folder / f"{comparison.algorithm}.png"
        figures.draw_comparison(comparison, self.results.robots, path)
        frames = [] if comparison is not published.OPERATIONAL_INERTIA else [Paragraph(
            """For one foot, as in the authors' program; for the last link of the chains. (All feet
            and hands at once: see Kempe's benchmarks.)""")]
        return [
            Heading(f"{comparison.title} ({comparison.table}, {comparison.figure})"), *frames,
            Table([f"time relative to {comparison.recursion}, %", *ROBOT_NAMES],
                  self.percent_rows(comparison)),
            Picture(path, f"{comparison.title}, as in the paper's {comparison.figure}."),
            Paragraph("µs per call:"), Table(["", *ROBOT_NAMES], self.time_rows(comparison))]

    def percent_rows(self, comparison: Comparison) -> list[Row]:
        rows: list[Row] = []
        for method in ("approximate", "projection", "lagrange"):
            for other, name in (("cluster", ""),
                                ("cluster_bodies", ", relative to rotors as bodies")):
                rows.append([words(METHODS[method] + name), *(
                    self.more_or_less(Key(comparison.algorithm, robot, method), other)
                    for robot in published.ROBOTS)])
            if method in comparison.percent:
                rows.append([words("the paper"), *(Cell(signed(value), "paper")
                                                   for value in comparison.percent[method])])
        return rows

    def more_or_less(self, key: Key, other: str) -> Cell:
        ratio = self.results.robots.ratio(key, other)
        return Cell(f"{signed(100 * (ratio.median - 1))} ±{50 * (ratio.high - ratio.low):.0f}",
                    "ours")

    def time_rows(self, comparison: Comparison) -> list[Row]:
        rows: list[Row] = []
        for method, name in METHODS.items():
            keys = [Key(comparison.algorithm, robot, method) for robot in published.ROBOTS]
            if any(key in self.results.robots for key in keys):
                rows.append([words(name), *map(self.time, keys)])
            if method in comparison.microseconds:
                rows.append([words("the paper's program"), *(
                    Cell(f"{value:.3g}", "paper") for value in comparison.microseconds[method])])
        return rows

    def time(self, key: Key) -> Cell:
        if key not in self.results.robots:
            return Cell("–")
        time = self.results.robots.time(key)
        spread = 50 * (time.high - time.low) / time.median
        return Cell(f"{1e6 * time.median:#.3g} ±{spread:.0f} %", "ours")

    # --- chains ----------------------------------------------------------------------------------

    def scaling(self) -> list[Block]:
        small = [n for n in self.results.links if n <= max(published.LINKS)]
        large = [n for n in self.results.links if n >= max(published.LINKS)]
        parts: list[Block] = [Heading("Scaling with the number of links (Figs. 11 and 13)")]
        for algorithm, title in (("forward_dynamics", "Forward dynamics"),
                                 ("inverse_operational_inertia", "Inverse operational inertia")):
            path = self.folder / f"chains_{algorithm}.png"
            figures.draw_scaling([s for s in published.SCALINGS if s.algorithm == algorithm],
                                 self.results.chains, self.results.links, path)
            parts.append(Picture(path, f"{title} of chains; right: log-log."))
        rows: list[Row] = []
        for scaling in published.SCALINGS:
            for method, name in METHODS.items():
                if not self.known_links(scaling, method, small):
                    continue
                theirs = scaling.microseconds.get(method)
                rows.append([
                    words(f"{scaling.algorithm} of {scaling.robot}".replace("_", " ")
                          + f" ({scaling.figure})"), words(name),
                    Cell(self.fitted(scaling, method, small), "ours"),
                    Cell(f"{exponent(published.LINKS, np.array(theirs)):.2f}" if theirs else "–",
                         "paper"),
                    Cell(self.fitted(scaling, method, large), "ours")])
        return [*parts, Paragraph(
            """Exponents p of time ∝ linksᵖ, fitted by least squares. The recursions are linear;
            methods that factor a matrix of the chain's size approach a cubic growth. In short
            chains this is hidden by other work, in the paper's figures too."""),
            Table(["", "method", f"{min(small)} to {max(small)} links",
                   f"the paper, {min(published.LINKS)} to {max(published.LINKS)}",
                   f"{min(large)} to {max(large)} links"], rows)]

    @staticmethod
    def chain_key(scaling: Scaling, method: str, links: int) -> Key:
        return Key(scaling.algorithm, speed.chain_name(scaling.robot, links), method)

    def known_links(self, scaling: Scaling, method: str, links: Sequence[int]) -> list[int]:
        return [n for n in links if self.chain_key(scaling, method, n) in self.results.chains]

    def fitted(self, scaling: Scaling, method: str, links: Sequence[int]) -> str:
        known = self.known_links(scaling, method, links)
        if len(known) < 2:
            return "–"
        times = [self.results.chains.time(self.chain_key(scaling, method, n)).median for n in known]
        reached = "" if max(known) == max(links) else f" (to {max(known)})"
        return f"{exponent(known, np.array(times)):.2f}{reached}"

    # --- torques ---------------------------------------------------------------------------------

    def torques(self) -> list[Block]:
        study = self.results.torques
        path = self.folder / "torques.png"
        figures.draw_torques(study.at_hertz, path)
        rows: list[Row] = []
        for number, joint in enumerate(torque.JOINTS):
            largest = study.at_hertz.largest[number]
            errors = [study.at_hertz.error(method)[number] for method in torque.INEXACT]
            rows.append([words(joint), f"{largest:.2f}",
                         *(f"{error:.2f} ({100 * error / largest:.1f} %)" for error in errors)])
        rows.append([words("the paper, “ankle”"), Cell(f"{published.LARGEST_TORQUE:.1f}", "paper"),
                     *(Cell(f"{error.rms:.2f} ({100 * error.share:.1f} %)", "paper")
                       for error in published.TORQUE_ERRORS.values())])
        sweep: list[Row] = []
        for frequency, one in study.sweep.items():
            row: Row = [f"{frequency:g}"]
            for place in (torque.KNEE, torque.ANKLE):
                largest = one.largest[place]
                row += [f"{largest:.2f}", *(
                    f"{error:.2f} ({100 * error / largest:.0f} %)"
                    for error in (one.error(method)[place] for method in torque.INEXACT))]
            sweep.append(row)
        belt = study.knee_and_ankle.error("approximate")[torque.KNEE]
        knee = study.at_hertz.error("approximate")[torque.KNEE]
        return [
            Heading("Torques of a leg (Fig. 14, section IX-B)"), Paragraph(
                f"""All five joints of the MIT Humanoid's leg follow A sin(2π ω t) with A =
                {torque.AMPLITUDE} rad and ω = {torque.FREQUENCY}, for {torque.DURATION:g} s, every
                {1e3 * torque.STEP:g} ms, as in the authors' program. Errors are root mean squares
                over time in N·m, with the percentage of the joint's peak torque in brackets."""),
            Table(["joint", "peak torque", "approximate", "unconstrained"], rows),
            Picture(path, "Torques from exact, approximate and unconstrained inverse dynamics."),
            Paragraph(
                f"""The paper's errors are reproduced to the last digit, but at the knee, where its
                text and caption say ankle. The authors' published plotting program uses joint 4,
                counted from one (accuracy_benchmark_ee_tracking.m), and the fourth joint is the
                knee. The percentages differ slightly because the paper divides by
                {published.LARGEST_TORQUE:.1f} N·m; the peak exact torque is
                {study.at_hertz.largest[torque.KNEE]:.2f} N·m. At the ankle itself the error of the
                approximation is smaller in N·m, but much larger relative to the torque."""),
            Paragraph(
                f"""ω is in revolutions per second, as in the paper's equation sin(2π ω t); its
                caption says rad/s, for which the error at the knee would be
                {study.at_radians.error("approximate")[torque.KNEE]:.3f} N·m. The leg is that of the
                authors' program, whose rotors have inertia but no mass: leaving them out does not
                change any weight."""),
            Paragraph(
                f"""Cause of the error: the ankle's rotor is mounted on the thigh and turns with the
                sum of knee and ankle, which reflected inertias on a diagonal cannot represent. If
                only knee and ankle move, the error of the approximation is {belt:.2f} N·m at both;
                the rest of the knee's {knee:.2f} N·m comes from rotors that are carried by the hip
                links."""),
            Paragraph("""By frequency, in N·m and as a percentage of the peak torque: errors grow
                with the square of the frequency. At the ankle, which carries almost no weight, so
                does the torque, and the percentage does not depend on speed. At the knee weight and
                inertia nearly cancel at 0.5 Hz; weight dominates only at lower frequencies."""),
            Table(["Hz", *(f"{joint}, {what}" for joint in ("knee", "ankle")
                           for what in ("largest", *torque.INEXACT))], sweep)]

    def robot_errors(self) -> list[Block]:
        rows: list[Row] = []
        methods = {"mass_kept": "approximate, rotors' mass kept", "approximate": "approximate",
                   "unconstrained": "unconstrained"}
        for robot, name in published.ROBOTS.items():
            row: Row = [words(name)]
            for method in methods:
                error = self.results.errors[robot][method]
                row += [percent(error.all_joints), percent(error.worst_joint),
                        words(error.worst_name)]
            rows.append(row)
        return [
            Heading("Torque errors by robot"), Paragraph(
                f"""Beyond the paper: torques of random motions with a fixed base, joints within
                {torque.AMPLITUDE} rad of their neutral position, up to {torque.SPEED:g} rad/s and
                {torque.ACCELERATION:g} rad/s². Errors are relative to the exact torques, as root
                mean squares over all joints, and for the worst joint. Rotors have mass here, except
                those of the chains. The paper's approximation drops the mass together with the
                rotors; users who set armatures in a simulator usually keep it on the body that
                carries the rotor."""),
            Table(["", *(head for name in methods.values()
                         for head in (name, "worst joint", ""))], rows)]

    # --- the jump --------------------------------------------------------------------------------

    def find_jump(self, method: str, gains: str) -> jump.Jump:
        return next(one for one in self.results.jumps
                    if (one.method, one.gains) == (method, gains))

    def jumps(self) -> list[Block]:
        path = self.folder / "jump.png"
        figures.draw_jumps(self.results.jumps, path)
        return [
            Heading("Effect on a controller"), Paragraph(
                f"""Beyond the paper: the same leg carries the humanoid's torso,
                {jump.torso_of_humanoid().mass} kg, on a vertical rail. It crouches, pushes off at
                {jump.TAKE_OFF_SPEED} m/s, tucks the leg in and extends it again. The controller
                runs at 1 kHz: feed-forward torques for the planned motion, computed by one of the
                methods, plus feedback from position and velocity of each joint. The simulated robot
                is always the exact one; its foot is held flat on the ground until the ground would
                have to pull, and the run ends at touch-down. The remaining error with exact torques
                comes from holding them constant for a millisecond."""),
            Picture(path, "A jump with soft feedback."),
            Table(["feedback (N·m/rad, N·m·s/rad)", "feed-forward torques", "foot error, mm, rms",
                   "largest", "knee error, °, rms", "ankle", "apex, mm relative to exact",
                   "feedback, N·m, rms", "largest", "motor effort, (N·m)²s"],
                  [self.jump_row(one) for one in self.results.jumps]),
            Paragraph("""Foot errors are relative to the torso. Motor effort is ∫ Σ τ² dt of the
                torques at the rotors; the contribution of each motor is proportional to the heat in
                its windings. A lower jump takes less effort.""")]

    def jump_row(self, one: jump.Jump) -> Row:
        report, exact = one.report(), self.find_jump("cluster", one.gains)
        stiffness, damping = jump.GAINS[one.gains]
        apex = 1e3 * (one.height.max() - exact.height.max())
        return [words(f"{one.gains} ({stiffness:g}, {damping:g})"),
                words(METHODS[one.method]),
                f"{1e3 * report['foot_error_rms']:.1f}",
                f"{1e3 * report['foot_error_largest']:.1f}",
                f"{report['joint_error_degrees'][torque.KNEE]:.2f}",
                f"{report['joint_error_degrees'][torque.ANKLE]:.2f}",
                "–" if one is exact else signed(apex),
                f"{report['feedback_rms']:.2f}", f"{report['feedback_largest']:.1f}",
                f"{report['motor_effort']:.2f}"]

    def sources(self) -> list[Block]:
        return [
            Heading("Sources"), Paragraph(
                f"""Percentages and torque errors of the paper are those of its Tables II to IV and
                section IX-B. Its times ({published.MACHINE}) are the data of its figures, which the
                authors publish with their program, generalized_rbda (folders Benchmarking/data and
                Benchmarking/Legacy/data)."""),
            Paragraph("""To repeat the measurements, run kempe paper on an otherwise idle machine.
                It writes all numbers to results.json. In Kempe's repository, make paper first
                compiles Pinocchio for the machine and includes it in the measurements.""")]
