"""Every integrator against references that were computed without Kempe (simulation_cases.py)."""

import pytest
from bundled_runs import allowed_error as allowed_error_of_robot
from bundled_runs import reference_of, simulated_robot
from simulation_cases import CASES, FIXED, REFERENCES, allowed_error, simulated

import kempe
from kempe.simulation import INTEGRATORS


def pairs() -> list[tuple[str, str, float | None]]:
    """All cases and integrators; samples every 1 ms too where the integrator controls its error."""
    found: list[tuple[str, str, float | None]] = []
    for name in CASES:
        for integrator in INTEGRATORS:
            for dt in (None,) if integrator in FIXED else (None, 1e-3):
                found.append((name, integrator, dt))
    return found


def test_references_are_exact() -> None:
    """Each was computed in two ways, which agree."""
    for name, reference in REFERENCES.items():
        assert reference["reached"] < 1e-12, name
        if reference["scipy_differs"] is not None:
            assert reference["scipy_differs"] < 1e-12 * reference["amplification"], name


@pytest.mark.parametrize(("name", "integrator", "dt"), pairs())
def test_a_simulation_is_right_or_says_that_it_is_not(
        name: str, integrator: str, dt: float | None) -> None:
    case = CASES[name]
    outcome = simulated(case, integrator, dt)
    allowed = allowed_error(case.reference, integrator)
    assert not outcome.is_wrong(allowed), (
        f"error {outcome.error:.2g}, of velocities {outcome.velocity_error:.2g}, allowed "
        f"{allowed:.2g}; energy balance {outcome.energy:.2g}; nothing reported")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("robot", kempe.robots.names())
def test_a_bundled_robot_is_right_or_says_that_it_is_not(robot: str, integrator: str) -> None:
    reference = reference_of(robot, seed=1)
    assert reference.reached < 1e-7
    outcome = simulated_robot(robot, 1, integrator)
    allowed = allowed_error_of_robot(robot, 1, integrator)
    assert not outcome.is_wrong(allowed), f"error {outcome.error:.2g}, allowed {allowed:.2g}"
