"""The benchmark report, written from a small recorded run."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import bench_report  # noqa: E402

CONTEXT = {"date": "2024-05-06T07:08:09+00:00", "num_cpus": 2, "mhz_per_cpu": 3000,
           "load_avg": [0.1, 0.2, 0.3], "pinocchio": "4.0.0", "mujoco": "3.0.0"}


def entries(name: str, nanoseconds: float, **more: object) -> list[dict]:
    common = {"run_name": name, "run_type": "aggregate", "time_unit": "ns", **more}
    return [common | {"aggregate_name": "median", "cpu_time": nanoseconds},
            common | {"aggregate_name": "cv", "cpu_time": 0.021}]


@pytest.fixture(name="run")
def recorded_run() -> dict:
    return {"context": CONTEXT, "benchmarks": [
        *entries("forward_dynamics/mini_cheetah/cluster", 1000.0),
        *entries("forward_dynamics/mini_cheetah/approximate", 800.0),
        *entries("forward_dynamics/mini_cheetah/cluster_batch", 500e3, items_per_second=4e6),
        *entries("forward_dynamics/mini_cheetah/pinocchio_exact", 8000.0, label="mimic_llt"),
        *entries("forward_dynamics/mini_cheetah/pinocchio_exact_mimic_llt", 8100.0),
        *entries("forward_dynamics/mini_cheetah_tree/cluster", 900.0),
        *entries("forward_dynamics/mini_cheetah_tree/pinocchio", 3000.0),
        *entries("forward_dynamics/flexible_arm_6x4/cluster", 1300.0),
        *entries("forward_dynamics/jointed_arm_6x4/cluster", 1500.0),
        *entries("forward_dynamics/rigid_arm_6/cluster", 300.0),
        *entries("forward_dynamics/tello_tree/cluster", 500.0),
        *entries("forward_dynamics/tello_tree/pinocchio", 1000.0)]}


@pytest.fixture(name="scaling")
def recorded_scaling() -> dict:
    return {"context": CONTEXT, "benchmarks": [
        *entries("forward_dynamics/chain_50/cluster", 5000.0),
        *entries("forward_dynamics/chain_200/cluster", 22000.0)]}


def test_times_are_microseconds_per_state(run: dict) -> None:
    results = bench_report.Results(run)
    assert results.time("forward_dynamics", "mini_cheetah", "cluster") == pytest.approx(1.0)
    assert results.time("forward_dynamics", "mini_cheetah", "cluster_batch") == pytest.approx(0.25)
    assert results.time("forward_dynamics", "mini_cheetah", "mujoco") is None


def test_comparisons(run: dict, scaling: dict) -> None:
    found = bench_report.comparisons(bench_report.Results(run), bench_report.Results(scaling))
    rows = {comparison.name: comparison.row()[1:] for comparison in found}
    # The geometric mean of 0.3 and 0.5.
    assert rows["forward dynamics of open trees: Kempe / Pinocchio's `aba`"] == [
        "0.39", "0.50 (`tello_tree`)"]
    assert rows["forward dynamics per link: 200 links / 50 links"][0] == "1.10"
    assert rows["forward dynamics: exact / approximate, both Kempe"][0] == "1.25"
    assert rows["forward dynamics beyond a rigid arm: four modes of each link / four more joints "
                "in each"][0] == "0.83"
    assert rows["mass matrix of open trees: Kempe / Pinocchio's `crba`"] == ["–", "–"]


def test_page_and_drawings(run: dict, scaling: dict, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text((ROOT / "benchmarks" / "README.md").read_text())
    for name, document in [("results", run), ("scaling", scaling)]:
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    command = [sys.executable, ROOT / "tools" / "bench_report.py", "--page", page,
               "--results", tmp_path / "results.json", "--scaling", tmp_path / "scaling.json"]
    subprocess.run(command, check=True, capture_output=True)
    text = page.read_text()
    assert "| `mini_cheetah` | 1.00 ±2 % | 0.250 ±2 % |" in text
    assert "| `mini_cheetah` | `mimic_llt` | `mimic_llt` 8.10 |" in text
    assert "| `rigid_arm_6` | six rigid links | 0.300 ±2 % | – |" in text
    assert "2024-05-06" in text
    assert "| time ratio | geometric mean | worst robot |" in text
    for drawing in ["forward_dynamics.svg", "scaling.svg"]:
        assert ET.parse(tmp_path / drawing).getroot().tag.endswith("svg")
    subprocess.run(command, check=True, capture_output=True)
    assert page.read_text() == text  # a second time changes nothing


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="begin machine"):
        bench_report.filled("words", {"machine": "table"})


def test_the_readme_has_the_times_of_the_page() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text()
    table = page.split("<!-- begin forward_dynamics -->")[1].split("<!-- end")[0]
    head, _, *rows = [re.sub(r"[`\s]|±[^|]*", "", line).strip("|").split("|")
                      for line in table.strip().splitlines()]
    times = {(row[0], method): row[i] for row in rows for i, method in enumerate(head)}
    shown = re.search(r"\n- \*\*[\d.]+ µs\*\* for exact forward dynamics.*?\(\[benchmarks\]",
                      (ROOT / "README.md").read_text(), re.DOTALL)
    assert shown is not None
    assert re.findall(r"\d+\.\d+", shown[0]) == [f"{float(times[place]):.2f}" for place in (
        ("mini_cheetah", "cluster"), ("mini_cheetah", "pinocchio"),
        ("mini_cheetah", "pinocchio_exact"), ("tello", "cluster"), ("tello", "pinocchio"),
        ("four_bar", "cluster"), ("four_bar", "pinocchio"))]
