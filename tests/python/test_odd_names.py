"""Names with special characters of matplotlib, re or HTML are shown verbatim."""

import html
import re
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe

ROBOT = r"back\1slash \g<0> $\frac{1$ <b>"
JOINTS = [r"_hidden", r"$a_1$", r"$\frac{$", r"C:\new\table", "__", "cost $5 & $6", "![x](y) `<i>`"]


@pytest.fixture(scope="module")
def model() -> kempe.Model:
    mechanism = kempe.Mechanism(ROBOT)
    mechanism.add_body("link0")
    for i, name in enumerate(JOINTS):
        mechanism.add_body(f"link{i + 1}", mass=1, center_of_mass=(0.1, 0, 0.1),
                           inertia=(0.1, 0.1, 0.1))
        mechanism.add_revolute(name, parent=f"link{i}", child=f"link{i + 1}", axis=(0, 1, 0))
    return kempe.Model(mechanism)


@pytest.fixture(scope="module")
def run(model: kempe.Model) -> kempe.Run:
    return kempe.simulate(model, v=np.ones(model.nv), duration=0.02)


def test_plots_show_all_names(run: kempe.Run, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from kempe.cli import plot

    file = tmp_path / "run.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text stays text
        plot.write_plot(run, str(file))
    texts = re.findall(r"<text[^>]*>(.*?)</text>", file.read_text(encoding="utf-8"), re.DOTALL)
    shown = [html.unescape(re.sub(r"<[^>]*>", "", text)) for text in texts]
    for name in JOINTS:
        assert shown.count(name) == 2, name  # positions and velocities
    assert f"{ROBOT}: auto (adaptive), dt 0.001 s" in shown


def test_pages_have_the_name_as_title(model: kempe.Model, run: kempe.Run, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    from kempe.viewer import write_html

    page = write_html(model, run, tmp_path / "run.html").read_text(encoding="utf-8")
    assert f"<title>{html.escape(ROBOT)}</title>" in page


def test_the_program_writes_both(model: kempe.Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("viser")
    kempe.write_urdf(model.mechanism, tmp_path / "odd.urdf")
    result = kempe_program("simulate", "odd.urdf", "--duration", "0.01", "--plot", "run.png",
                           "--html", "run.html", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run.png").stat().st_size > 1000
    assert (tmp_path / "run.html").stat().st_size > 1000
