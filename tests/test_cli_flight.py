"""`flexpress plan --certify`, `export` and `map`, as their users and their scripts see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run

from flexpress import Plan, Scenario, make_plan, save_plan
from flexpress.planning.export import EXPORT_FORMATS

pytestmark = pytest.mark.usefixtures("blank_pictures")

VALLEY = Scenario.preset("valley")
PLAN = make_plan(VALLEY, solver="exact")
ORIGIN = ("--origin", "47.3769,8.5417")


@pytest.fixture(autouse=True)
def _a_plan_of_the_valley(tmp_path: Path) -> None:
    write_plan(tmp_path / "valley", VALLEY, PLAN)


def write_plan(folder: Path, scenario: Scenario, plan: Plan) -> None:
    folder.mkdir()
    scenario.save(folder / "scenario-used.toml")
    save_plan(plan, folder / "plan.json")


def files(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


# flexpress plan --certify


def test_a_certificate_in_json(run: Run) -> None:
    outcome = run("plan", "valley", "--certify", "--iterations", "2000", "--json")
    assert outcome.code == 0
    data = json.loads(outcome.out)
    assert data["bound_method"] == "column generation"
    assert data["lower_bound"] == pytest.approx(PLAN.cost, rel=1e-7)  # of the exact solver
    assert 0 <= data["gap"] < 1e-7


def test_a_certificate_in_the_table_and_in_the_files(run: Run) -> None:
    outcome = run("plan", "valley", "--certify-seconds", "20", "--out", "certified")
    assert outcome.code == 0
    assert " proven: optimal, by column generation\n" in outcome.out
    assert json.loads(Path("certified/plan.json").read_text())["lower_bound"] is not None
    assert run("map", "certified").code == 0
    assert "column generation" in Path("certified/map.html").read_text()


def test_the_exact_solver_needs_no_other_proof(run: Run) -> None:
    data = json.loads(run("plan", "valley", "--solver", "exact", "--certify", "--json").out)
    assert (data["lower_bound"], data["gap"]) == (data["cost"], 0.0)
    assert data["bound_method"] == "dynamic programming"


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_time_for_proofs_that_is_none(run: Run, seconds: str) -> None:
    outcome = run("plan", "valley", "--certify-seconds", seconds, "--out", "new")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"flexpress: certify-seconds = {float(seconds)}: "
        "must be a number greater than 0 and at most 1e9\n"
    )
    assert not Path("new").exists()


def test_without_highs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flexpress.planning.bounds.certificate.has_highs", lambda: False)
    outcome = run("plan", "valley", "--certify", "--json")
    assert outcome.code == 0
    assert outcome.err == (
        "flexpress: only weak bounds are proven without the package highspy: "
        "pip install 'flexpress[certify]'\n"
    )
    assert json.loads(outcome.out)["bound_method"] in ("farthest client", "shared load")


def test_a_diagnosis(run: Run) -> None:
    VALLEY.replace(fleet={"budgets": ["6 kJ"] * 3}).save("tight.toml")
    outcome = run("plan", "tight.toml", "--solver", "exact", "--diagnose")
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1].startswith(
        "flexpress: no plan fits the budgets: client spring is out of reach of every transporter"
    )
    lines = outcome.out.splitlines()
    assert lines[0] == "any one of these is enough, the least change first:"
    assert lines[1].strip() == "budgets        +108 %  12.45 kJ instead of 6 kJ"
    assert lines[-1].strip() == "transfer time       -  no transfer time is small enough"
    assert not Path("flexpress-out").exists()


def test_a_diagnosis_in_json(run: Run) -> None:
    VALLEY.replace(fleet={"budgets": ["6 kJ"] * 3}).save("tight.toml")
    outcome = run("plan", "tight.toml", "--solver", "exact", "--diagnose", "--json")
    assert outcome.code == 3
    remedies = json.loads(outcome.out)["remedies"]
    assert remedies[0]["change"] == "budgets"
    assert remedies[0]["factor"] == pytest.approx(12442.085 / 6000, rel=1e-6)


def test_without_diagnosis_it_is_mentioned(run: Run) -> None:
    VALLEY.replace(fleet={"budgets": ["6 kJ"] * 3}).save("tight.toml")
    outcome = run("plan", "tight.toml", "--solver", "exact")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.endswith("; --diagnose shows what would help most\n")


# flexpress export


def test_all_formats_at_once(run: Run) -> None:
    formats = [word for name in EXPORT_FORMATS for word in ("--format", name)]
    outcome = run("export", "valley", *formats, *ORIGIN, "--out", "missions")
    assert (outcome.code, outcome.err) == (0, "")
    expected = ["plan.csv", "plan.geojson", "plan.gpx", "plan.kml"]
    expected += [f"transporter-{k}.{kind}" for k in (1, 2, 3) for kind in ("plan", "waypoints")]
    assert files("missions") == sorted([".flexpress.jsonl", *expected])
    assert sorted(outcome.out.split()) == sorted(f"missions/{name}" for name in expected)


def test_beside_the_plan_by_default(run: Run) -> None:
    assert run("export", "valley/plan.json", "--format", "kml", *ORIGIN).code == 0
    expected = [".flexpress.jsonl", "plan.json", "plan.kml", "scenario-used.toml"]
    assert files("valley") == expected


def test_a_scenario_elsewhere(run: Run) -> None:
    Path("valley/scenario-used.toml").rename("elsewhere.toml")
    command = ("export", "valley", "--format", "csv", *ORIGIN)
    outcome = run(*command)
    assert outcome.code == 2
    assert outcome.err == (
        "flexpress: valley/scenario-used.toml: no such file; "
        "name the plan's scenario with --scenario\n"
    )
    assert run(*command, "--scenario", "elsewhere.toml").code == 0


def test_the_alps_need_no_origin(run: Run) -> None:
    assert run("plan", "alps", "--iterations", "2000", "--out", "alps").code == 0
    assert run("export", "alps", "--format", "qgc").code == 0
    mission = json.loads(Path("alps/transporter-1.plan").read_text())
    assert len(mission["geoFence"]["polygons"]) == len(Scenario.preset("alps").no_fly)


BAD_EXPORTS = {
    ("export", "valley", *ORIGIN): "--format is missing: give one or more of qgc, wpl, geojson",
    ("export", "valley", "--format", "pdf"): "Invalid value for '--format': 'pdf' is not one of",
    ("export", "valley", "--format", "qgc"): "give --origin LAT,LON",
    (
        "export",
        "valley",
        "--format",
        "qgc",
        "--origin",
        "95,8",
    ): "latitude is 95.0: must lie between -90 and 90",
    ("export", "valley", "--format", "qgc", "--origin", "here"): "LAT,LON",
    ("export", "nowhere", "--format", "qgc"): "nowhere: no such plan; `flexpress plan SCENARIO`",
    (
        "export",
        "broken.json",
        "--format",
        "qgc",
    ): "scenario-used.toml: no such file; name the plan's",
    ("map", "nowhere"): "nowhere: no such plan; `flexpress plan SCENARIO` makes one",
    (
        "map",
        "broken.json",
        "--scenario",
        "valley/scenario-used.toml",
    ): "broken.json: not a plan: Invalid",
    ("map", "valley", "--scenario", "paper"): "3 transporters in the plan, 4 in the scenario",
    ("map", "valley", "--out", "broken.json/map.html"): "broken.json: is a file; name a folder",
}


@pytest.mark.parametrize("command", BAD_EXPORTS, ids=" ".join)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    run: Run, command: tuple[str, ...]
) -> None:
    Path("broken.json").write_text("{")
    before = files(".")
    outcome = run(*command)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: ")
    assert BAD_EXPORTS[command] in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert files(".") == before


# flexpress map


def test_a_map_beside_the_plan(run: Run) -> None:
    outcome = run("map", "valley")
    assert (outcome.code, outcome.out, outcome.err) == (0, "valley/map.html\n", "")
    assert Path("valley/map.html").read_text().startswith("<!DOCTYPE html>")


def test_a_map_elsewhere(run: Run) -> None:
    assert run("map", "valley/plan.json", "--out", "here.html").out == "here.html\n"
    assert files("valley") == ["plan.json", "scenario-used.toml"]
