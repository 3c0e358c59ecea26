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
from flexpress.experiments.protocol import as_flown, protocol
from flexpress.experiments.reproduce import (
    _chosen,
    _command_text,
    _run_label,
    _scale_of,
    _settings_of,
)
from flexpress.experiments.run import Run as Simulated
from flexpress.experiments.sweeps import SWEEP_NAMES, sweeps_of
from flexpress.files.provenance import RECORD

NAMES = ", ".join([*(figure.name for figure in FIGURES), *SWEEP_NAMES])


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
    full, single = protocol().full, protocol().single
    figures, sweeps = _chosen([], full)
    assert figures == FIGURES
    assert tuple(sweep.name for sweep in sweeps) == SWEEP_NAMES
    figures, sweeps = _chosen(["speed", "rates", "network", "speed"], full)
    assert [figure.name for figure in figures] == ["network", "speed"]
    assert [sweep.name for sweep in sweeps] == ["rates"]
    assert _chosen([], single) == (FIGURES, ())  # about one map; but a sweep may be asked for
    assert _chosen(["rates"], single) == ((), sweeps)


def test_the_part_of_the_protocol() -> None:
    assert _scale_of(quick=False, networks=None) == protocol().full
    assert _scale_of(quick=False, networks=3) == protocol().full
    assert _scale_of(quick=False, networks=1) == protocol().single
    assert _scale_of(quick=True, networks=1) == protocol().quick


def test_the_command_on_the_page_gives_the_same_numbers() -> None:
    assert _command_text(quick=False, seeds=None, networks=None) == "flexpress reproduce"
    given = _command_text(quick=True, seeds=3, networks=2)
    assert given == "flexpress reproduce --quick --seeds 3 --networks 2"


def test_labels_tell_all_runs_apart() -> None:
    swept = [each for sweep in sweeps_of(protocol().full) for each in sweep.settings]
    settings = {*_settings_of(FIGURES), *swept}
    labels = {
        _run_label(Simulated(setting, network, 1000 * network + 1, None, None))  # type: ignore[arg-type]  # unused
        for setting in settings
        for network in (0, 1)
    }
    assert len(labels) == 2 * len(settings)
    flown = replace(ASYNC, speed=5.0, budget=None, reading=as_flown())
    label = _run_label(Simulated(flown, 0, 3, None, None))  # type: ignore[arg-type]  # unused
    assert label == "async sws fmnist iid as it would fly 5 m/s network 0 seed 3"


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    """Of some figures: they are all that is run, drawn and told of."""
    names = ["network", "budget", "energy", "remote"]
    figures = [word for name in names for word in ("--figure", name)]
    assert reproduce(tmp_path, *figures, model="logistic") == []
    files = {
        name: text
        for name, text in written(tmp_path).items()
        if not name.startswith(("runs/", "plans/")) and RECORD not in name
    }
    page = WrittenPage(files["report.html"].decode())
    assert page.mistakes == []
    heads = [heading.text for heading in page.all("h2")][2:]
    assert [head.split(" [")[0] for head in heads] == [
        *(figure.title for figure in FIGURES if figure.name in names),
        "Beyond the paper: A remote group",
        *("Tours", "The protocol", "All numbers"),
    ]
    both = [f"{name}{end}" for name in names[:3] for end in ("", "-flown")]
    drawn = {
        f"figures/{name}.{kind}" for name in (*both, "remote", "tours") for kind in ("svg", "png")
    }
    tables = {f"figures/{name}.csv" for name in (*names, "claims", "differences")}
    others = {"report.html", "figures/findings.json", "figures/protocol.toml"}
    assert set(files) == {*others, *drawn, *tables}
    assert "flexpress reproduce --quick --figure budget" in page.html
    assert "quick look" in page.html
