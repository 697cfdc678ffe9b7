"""Loops that cannot be closed are reported."""

from pathlib import Path

import numpy as np
import pytest

import kempe


def link(name: str) -> str:
    return f"""<link name="{name}"><inertial><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def joint(name: str, parent: str, child: str, x: float, independent: str) -> str:
    return f"""<joint name="{name}" type="continuous" independent="{independent}">
      <parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>"""


@pytest.fixture
def short_four_bar(tmp_path: Path) -> kempe.Model:
    """Ground 0.5 m, crank 0.4 m, coupler and rocker 0.3 m: the crank cannot turn all the way."""
    file = tmp_path / "short_four_bar.urdf"
    file.write_text(f"""<robot name="short_four_bar"><link name="ground"/>
      {link("crank")}{link("coupler")}{link("rocker")}
      {joint("motor", "ground", "crank", 0, "true")}
      {joint("knee", "crank", "coupler", 0.4, "false")}
      {joint("pivot", "ground", "rocker", 0.5, "false")}
      <loop name="closure" type="revolute">
        <predecessor link="coupler"><origin xyz="0.3 0 0"/></predecessor>
        <successor link="rocker"><origin xyz="0.3 0 0"/></successor>
        <axis xyz="0 0 1"/></loop></robot>""")
    return kempe.load(file)


def test_loops_out_of_reach_are_reported(short_four_bar: kempe.Model) -> None:
    q = short_four_bar.neutral()
    q[short_four_bar.q_names.index("motor")] = np.pi
    with pytest.raises(kempe.AssemblyError) as caught:
        short_four_bar.project(q)
    assert caught.value.loop == "closure"
    assert '"closure"' in str(caught.value)
    # The crank's tip is 0.9 m from the pivot; coupler and rocker reach 0.6 m.
    assert caught.value.gap == pytest.approx(0.3, abs=1e-6)


def test_the_branch_is_kept(short_four_bar: kempe.Model) -> None:
    motor, knee, pivot = (short_four_bar.q_names.index(name) for name in ("motor", "knee", "pivot"))
    q = short_four_bar.neutral()
    q[motor] = 0.5
    one = short_four_bar.project(q)
    # The other branch is the mirror image in the line from the crank's tip to the pivot.
    line = np.arctan2(-0.4 * np.sin(0.5), 0.5 - 0.4 * np.cos(0.5))
    other = one.copy()
    other[knee] = 2 * (line - 0.5) - one[knee]
    other[pivot] = 2 * (line + np.pi) - one[pivot]
    assert np.abs(short_four_bar.loop_residual(other)).max() < 1e-12
    assert np.abs(other - one).max() > 0.1
    for branch in (one, other):
        opened = branch.copy()
        opened[knee] += 0.02
        np.testing.assert_allclose(short_four_bar.project(opened), branch, atol=1e-9)


def test_motion_out_of_reach_is_reported(short_four_bar: kempe.Model) -> None:
    with pytest.raises((kempe.AssemblyError, kempe.SingularityError), match="closure"):
        short_four_bar.integrate(short_four_bar.neutral(), [np.pi], 1.0)
