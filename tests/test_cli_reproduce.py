"""`flexpress reproduce`: what is refused, what is run, and the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run
from small_reproduction import reproduce, written
from small_run import contents
from written_page import WrittenPage

from flexpress.experiments.figures import ASYNC, FIGURES
from flexpress.experiments.reproduce import _chosen_figures, _command_text, _run_label
from flexpress.experiments.run import Run as Simulated
from flexpress.files.provenance import RECORD

NAMES = ", ".join(figure.name for figure in FIGURES)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--figure", "nosuch"], f'no figure "nosuch"; there are: {NAMES}'),
        (["--figure", "network", "--figure", ""], f'no figure ""; there are: {NAMES}'),
        (["--figure", "iid-fmnis"], 'no figure "iid-fmnis" (did you mean'),
        (["--seeds", "0"], "seeds = 0: must be a whole number of at least 1"),
        (["--seeds", "-3"], "seeds = -3: must be a whole number of at least 1"),
        (["--networks", "0"], "networks = 0: must be a whole number of at least 1"),
        (["--jobs", "0"], "jobs = 0: must be a whole number of at least 1"),
        (["--seeds", "many"], "Invalid value for '--seeds'"),
        (["--out", "file"], "file: is a file; name a folder"),
        (["--out", "taken"], "taken/runs: is a file; name a folder"),
        (["--out", "file/below"], "file/below: no files can be written there"),
    ],
)
def test_refused_at_once(run: Run, arguments: list[str], expected: str) -> None:
    Path("file").touch()
    Path("taken").mkdir()
    Path("taken/runs").touch()
    before = contents(".")
    outcome = run("reproduce", "--quick", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"flexpress: {expected}")
    assert outcome.err.count("\n") == 1
    assert contents(".") == before


def test_figures_in_the_order_of_the_paper() -> None:
    assert _chosen_figures([]) == FIGURES
    named = _chosen_figures(["speed", "network", "speed"])
    assert [figure.name for figure in named] == ["network", "speed"]


def test_the_command_on_the_page_gives_the_same_numbers() -> None:
    assert _command_text(quick=False, seeds=None, networks=1) == "flexpress reproduce"
    given = _command_text(quick=True, seeds=3, networks=2)
    assert given == "flexpress reproduce --quick --seeds 3 --networks 2"


def test_labels_tell_the_runs_of_a_figure_apart() -> None:
    for figure in FIGURES:
        settings = {line.setting for line in figure.lines}
        labels = {
            _run_label(Simulated(setting, network, seed, None, None))  # type: ignore[arg-type]  # unused
            for setting in settings
            for network in (0, 1)
            for seed in (1, 2)
        }
        assert len(labels) == 4 * len(settings)
    slow = Simulated(replace(ASYNC, speed=5.0, budget=None), 0, 3, None, None)  # type: ignore[arg-type]  # unused
    assert _run_label(slow) == "async sws fmnist iid 5 m/s seed 3"


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    """Of some figures: they are all that is run, drawn and told of."""
    names = ["network", "budget", "energy"]
    figures = [word for name in names for word in ("--figure", name)]
    assert reproduce(tmp_path, *figures, model="logistic") == []
    files = {
        name: text
        for name, text in written(tmp_path).items()
        if not name.startswith("runs/") and RECORD not in name
    }
    page = WrittenPage(files["report.html"].decode())
    assert page.mistakes == []
    figures = [figure.title for figure in FIGURES if figure.name in names]
    assert [heading.text for heading in page.all("h2")][-5:] == [*figures, "Tours", "All numbers"]
    pictures = {"network", "budget", "energy", "tours"}
    drawn = {f"figures/{name}.{kind}" for name in pictures for kind in ("svg", "png")}
    tables = {f"figures/{name}.csv" for name in (*(pictures - {"tours"}), "claims")}
    assert set(files) == {"report.html", "figures/findings.json", *drawn, *tables}
    assert "flexpress reproduce --quick --figure budget" in page.html
    assert "quick look" in page.html
