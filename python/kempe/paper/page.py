"""The page: tables, figures and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

import kempe
from kempe.paper import figures, jump, published, speed, torque
from kempe.paper.markup import (
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
from kempe.paper.names import METHODS
from kempe.paper.published import Comparison, Scaling
from kempe.paper.speed import Key, exponent
from kempe.paper.study import Results
from kempe.paper.torque import root_mean_square

ROBOT_NAMES = tuple(published.ROBOTS.values())

Row = list[str | Cell]


class Page:
    """Made of results, in a folder."""

    def __init__(self, results: Results, folder: Path) -> None:
        self.results, self.folder = results, folder

    def write(self) -> Path:
        """index.html, which needs no other file; index.md and its figures beside it. In the look
        that matplotlib comes with, whatever the user has set."""
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
        blocks: list[Block] = [Heading("The paper, computed again", level=1), Paragraph(
            f"""The results section of {published.AUTHORS}, “{published.TITLE}” (2023), with Kempe,
            and the paper's figures beside ours.""")]
        if self.results.quick:
            blocks.append(Paragraph("""This is the quick run: few repetitions and short chains. Its
                times show that all works, not how fast it is."""))
        return blocks

    # --- conclusions -----------------------------------------------------------------------------

    def in_short(self) -> list[Block]:
        return [Heading("In short"), Points([
            self.cost_of_exactness(), self.beside_the_program(), *self.beside_pinocchio(),
            *self.when_to_approximate(), self.consequence()])]

    def percents(self, algorithm: str, method: str) -> dict[str, float]:
        """More (+) or less (−) time than the exact recursion, by robot."""
        return {robot: 100 * (self.results.robots.ratio(Key(algorithm, robot, method)).median - 1)
                for robot in published.ROBOTS}

    def cost_of_exactness(self) -> str:
        def more(percents: Sequence[float]) -> dict[str, float]:
            """Percent more time for exact, where the approximation takes so much more or less."""
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
        return f"""What exactness costs: where motors drive their joints through gears and belts,
            exact forward dynamics takes {between(list(ours.values()))} % more time than the
            approximation, and {jvrc1:.0f} % more for JVRC-1, {rotors - len(robot.folded_rotors)} of
            whose {rotors} rotors are not symmetric about their axes and stay bodies (the paper:
            {between(list(theirs.values()))} %). Tello's legs have loops that must be solved at
            every state, which the approximation never does: {tello:.0f} % more, {1e6 * time:.1f} µs
            in all (the paper: {their_tello:.0f} %, but its program solves them before its clock
            starts). The other exact ways take {others["projection"]} % (projection) and
            {others["lagrange"]} % (multipliers) more time than the recursion."""

    def beside_the_program(self) -> str:
        parts = [1e6 * self.results.robots.time(Key(comparison.algorithm, robot, "cluster")).median
                 / theirs for comparison in published.COMPARISONS
                 for robot, theirs in zip(published.ROBOTS, comparison.microseconds["cluster"],
                                          strict=True)]
        return f"""Kempe's exact recursions take {between(parts, ".2f")} of the time that the
            paper's program took on its machine. The machines differ, so that this is an order of
            magnitude, not a ratio."""

    def beside_pinocchio(self) -> list[str]:
        """Nothing where it was not measured at its best."""
        parts: dict[str, list[float]] = {}
        for method in ("pinocchio", "pinocchio_exact"):
            keys = [Key("forward_dynamics", robot, method) for robot in published.ROBOTS]
            parts[method] = [1 / self.results.robots.ratio(key).median for key in keys
                             if key in self.results.robots]
        if not parts["pinocchio"] or not self.results.peer_at_its_best:
            return []
        exact = ("" if not parts["pinocchio_exact"] else f""", and
            {between(parts["pinocchio_exact"], ".2f")} of the time of its fastest exact way""")
        return [f"""Beside Pinocchio, in the same run: Kempe's exact forward dynamics, rotors and
            loops and all, takes {between(parts["pinocchio"], ".2f")} of the time of Pinocchio's
            recursion on the tree that approximates them{exact}."""]

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
            reflected inertia is small beside that of the links, and where the rotor's mass is kept
            with the body that carries it. It is then wrong by
            {percent(errors["geared_chain"]["mass_kept"].worst_joint)} of the torque at the worst
            joint of the geared chain, whose rotors hardly weigh beside links of a kilogram, and by
            {percent(errors["jvrc1"]["mass_kept"].worst_joint)} at that of JVRC-1. Over all joints
            of the four robots with legs it is wrong by {whole("mass_kept")} %; if the rotors' mass
            is dropped, as in the paper, by {whole("approximate")} %.""",
            f"""When it is not: where a belt or a differential drives two joints at once, and at the
            light end of a limb. At the MIT Humanoid's ankle it is wrong by
            {percent(errors["mit_humanoid"]["mass_kept"].worst_joint)} of the torque in random
            motions, and by {percent(ankle)} of the largest torque in the paper's motion (knee:
            {percent(knee)}). Leaving rotors out altogether is wrong by up to
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
        return f"""What it does to a controller: in a jump with soft feedback, the foot is off by up
            to {foot["cluster"]:.1f} mm with exact torques ahead, {foot["approximate"]:.0f} mm with
            approximate and {foot["unconstrained"]:.0f} mm with unconstrained ones, and the torso's
            highest point by {apex["approximate"]} and {apex["unconstrained"]} mm. Stiff feedback
            brings the foot within {1e3 * stiff.foot_error.max():.0f} mm with approximate torques
            too, but has to add {added:.1f} N·m at a joint where exact ones leave it {exact:.1f}."""

    # --- times -----------------------------------------------------------------------------------

    def how(self) -> list[Block]:
        rounds = min(self.results.robots.repetitions, self.results.chains.repetitions)
        facts = [[words(name), words(value)] for name, value in self.results.machine.items()]
        return [
            Heading("How it is measured"), Paragraph(
                f"""All methods run on the same kernels, in one process and on one thread. Robots,
                methods and peers take turns in random order; times are medians of at least {rounds}
                rounds, ± half the width of their middle half, and percentages are medians of the
                ratios within a round. Calls go through {speed.STATES} random states (chains:
                {speed.CHAIN_STATES}), all of them in every round. Times are of calls in C++."""),
            Paragraph(
                """Percentages are given twice: beside Kempe's recursion as it is, which folds
                rotors that are symmetric about their axes into the bodies that carry them, and
                beside the same recursion with all rotors as bodies, as in the paper. The first is
                what users get, the second what compares with the paper. The rest is a difference of
                programs: here the recursions have kernels of fixed size, and the mass matrices of
                the other methods are factored along the tree."""),
            Paragraph(
                """“Approximate” is the recursion on the open tree of links, with the rotors'
                reflected inertia on the diagonal, as a model of its own: it never solves a loop.
                For Tello, whose coordinates here are those of its motors, the time with the way
                from motors to links is given beside. “Projection” and “Lagrange multipliers” are
                exact and use the sparsity of the tree."""),
            Paragraph(self.results.peer), Table(["", ""], facts)]

    def comparison(self, comparison: Comparison) -> list[Block]:
        path = self.folder / f"{comparison.algorithm}.png"
        figures.draw_comparison(comparison, self.results.robots, path)
        frames = [] if comparison is not published.OPERATIONAL_INERTIA else [Paragraph(
            """Of one foot, as in the authors' program; of the chains' last link. (Of all feet and
            hands at once: Kempe's benchmarks.)""")]
        return [
            Heading(f"{comparison.title} ({comparison.table}, {comparison.figure})"), *frames,
            Table([f"time beside {comparison.recursion}, %", *ROBOT_NAMES],
                  self.percent_rows(comparison)),
            Picture(path, f"{comparison.title}, as in the paper's {comparison.figure}."),
            Paragraph("µs per call:"), Table(["", *ROBOT_NAMES], self.time_rows(comparison))]

    def percent_rows(self, comparison: Comparison) -> list[Row]:
        rows: list[Row] = []
        for method in ("approximate", "projection", "lagrange"):
            for beside, name in (("cluster", ""), ("cluster_bodies", ", beside rotors as bodies")):
                rows.append([words(METHODS[method] + name), *(
                    self.more_or_less(Key(comparison.algorithm, robot, method), beside)
                    for robot in published.ROBOTS)])
            if method in comparison.percent:
                rows.append([words("the paper"), *(Cell(signed(value), "paper")
                                                   for value in comparison.percent[method])])
        return rows

    def more_or_less(self, key: Key, beside: str) -> Cell:
        ratio = self.results.robots.ratio(key, beside)
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
        parts: list[Block] = [Heading("Growth with the number of links (Figs. 11 and 13)")]
        for algorithm, title in (("forward_dynamics", "Forward dynamics"),
                                 ("inverse_operational_inertia", "Inverse operational inertia")):
            path = self.folder / f"chains_{algorithm}.png"
            figures.draw_scaling([s for s in published.SCALINGS if s.algorithm == algorithm],
                                 self.results.chains, self.results.links, path)
            parts.append(Picture(path, f"{title} of chains; right: both axes logarithmic."))
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
            """Exponents p of time ∝ linksᵖ, by least squares. The recursions are linear; methods
            that factor a matrix of the chain's size tend to the cube. In short chains other work
            hides that, in the paper's figures too."""),
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
                over time in N·m, and in brackets their share of the joint's largest torque."""),
            Table(["joint", "largest torque", "approximate", "unconstrained"], rows),
            Picture(path, "Torques by exact, approximate and unconstrained inverse dynamics."),
            Paragraph(
                f"""The paper's errors are found again to the last digit, but at the knee: its text
                and caption say ankle. The authors' published drawing program takes joint 4, counted
                from one (accuracy_benchmark_ee_tracking.m), and the fourth joint is the knee. The
                shares differ a little because the paper divides by {published.LARGEST_TORQUE:.1f}
                N·m; the largest exact torque is {study.at_hertz.largest[torque.KNEE]:.2f} N·m. At
                the ankle itself the approximation is wrong by less in N·m, but by far more of the
                torque that there is."""),
            Paragraph(
                f"""ω counts turns per second, as in the paper's equation sin(2π ω t); its caption
                says rad/s, with which the error at the knee would be
                {study.at_radians.error("approximate")[torque.KNEE]:.3f} N·m. The leg is that of the
                authors' program, whose rotors have inertia but no mass: leaving them out changes no
                weight."""),
            Paragraph(
                f"""Where the error comes from: the ankle's rotor sits on the thigh and turns by the
                sum of knee and ankle, which a diagonal of reflected inertias cannot say. If only
                knee and ankle move, the approximation is wrong by {belt:.2f} N·m at both; the rest
                of the knee's {knee:.2f} N·m comes from rotors that the hips carry along."""),
            Paragraph("""By frequency, in N·m and as a share of the largest torque: errors grow with
                the square of the frequency. At the ankle, which carries almost no weight, the
                torque does too, and speed does not matter. At the knee weight and inertia nearly
                cancel at 0.5 Hz; only slower does weight win."""),
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
            Heading("How wrong, robot by robot"), Paragraph(
                f"""Beyond the paper: torques of random motions with the base held, joints within
                {torque.AMPLITUDE} rad of their neutral position, up to {torque.SPEED:g} rad/s and
                {torque.ACCELERATION:g} rad/s². Errors are parts of the exact torques, root mean
                squares over all joints, and of the joint where it is largest. Rotors have mass
                here, except those of the chains. The paper's approximation drops it with them;
                those who set armatures in a simulator usually keep it on the body that carries the
                rotor."""),
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
            Heading("What it does to a controller"), Paragraph(
                f"""Beyond the paper: the same leg carries the humanoid's torso,
                {jump.torso_of_humanoid().mass} kg, on a vertical rail. It crouches, pushes off at
                {jump.TAKE_OFF_SPEED} m/s, tucks the leg in and reaches down again. The controller
                runs at 1 kHz: torques computed ahead for the planned motion by one of the methods,
                plus feedback from position and velocity of each joint. The robot that is simulated
                is always the exact one; its foot is held flat on the ground until it would have to
                pull, and the run ends when it touches down. What is left of the error with exact
                torques comes from holding them for a millisecond."""),
            Picture(path, "A jump with soft feedback."),
            Table(["feedback (N·m/rad, N·m·s/rad)", "torques ahead", "foot error, mm, rms",
                   "largest", "knee error, °, rms", "ankle", "apex, mm beside exact",
                   "feedback, N·m, rms", "largest", "motor effort, (N·m)²s"],
                  [self.jump_row(one) for one in self.results.jumps]),
            Paragraph("""Foot errors are relative to the torso. Motor effort is ∫ Σ τ² dt of the
                torques at the rotors; of each motor, its part is proportional to the heat in the
                windings. A jump that comes out lower takes less of it.""")]

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
                section IX-B. Its times ({published.MACHINE}) are the numbers behind its figures,
                which the authors publish with their program, generalized_rbda (folders
                Benchmarking/data and Benchmarking/Legacy/data)."""),
            Paragraph("""To measure again: kempe paper, on a machine that does nothing else. It
                leaves all numbers in results.json. In Kempe's repository, make paper compiles
                Pinocchio for the machine first, and lets it take turns with the others.""")]
