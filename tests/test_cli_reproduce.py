"""`flexpress reproduce`: what is refused, what is run, and the page."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run
from small_run import contents, environment
from written_page import WrittenPage

from flexpress.cli.reproduce import chosen, typed
from flexpress.cli.reproducing import label
from flexpress.experiments.figures import ASYNC, FIGURES
from flexpress.experiments.run import Run as Simulated

NAMES = ", ".join(figure.name for figure in FIGURES)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--figure", "nosuch"], f'no figure "nosuch"; there are: {NAMES}'),
        (["--figure", "network", "--figure", ""], f'no figure ""; there are: {NAMES}'),
        (["--figure", "iid-fmnis"], 'no figure "iid-fmnis" (did you mean'),
        (["--seeds", "0"], "--seeds 0: must be at least 1"),
        (["--seeds", "-3"], "--seeds -3: must be at least 1"),
        (["--networks", "0"], "--networks 0: must be at least 1"),
        (["--jobs", "0"], "--jobs 0: must be at least 1"),
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
    assert chosen([]) == FIGURES
    named = chosen(["speed", "network", "speed"])
    assert [figure.name for figure in named] == ["network", "speed"]


def test_the_command_on_the_page_gives_the_same_numbers() -> None:
    assert typed(quick=False, seeds=None, networks=1) == "flexpress reproduce"
    given = typed(quick=True, seeds=3, networks=2)
    assert given == "flexpress reproduce --quick --seeds 3 --networks 2"


def test_labels_tell_the_runs_of_a_figure_apart() -> None:
    for figure in FIGURES:
        settings = {line.setting for line in figure.lines}
        labels = {
            label(Simulated(setting, network, seed, None, None))  # type: ignore[arg-type]  # unused
            for setting in settings
            for network in (0, 1)
            for seed in (1, 2)
        }
        assert len(labels) == 4 * len(settings)
    slow = Simulated(replace(ASYNC, speed=5.0, budget=None), 0, 3, None, None)  # type: ignore[arg-type]  # unused
    assert label(slow) == "async sws fmnist iid 5 m/s seed 3"


PROGRAM = """
import sys
from flexpress.experiments import setting
setting.QUICK = setting.Scale("quick", 1, 60, 10, True)
from flexpress.cli import main
sys.exit(main(sys.argv[1:]))
"""
ARGUMENTS = ["reproduce", "--quick", "--figure", "network", "--figure", "budget"]
ARGUMENTS += ["--figure", "energy", "--out"]


def start(folder: Path) -> subprocess.Popen[str]:
    """60 slots and one seed: four runs."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *ARGUMENTS, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def finish(folder: Path) -> dict[str, bytes]:
    """The page and all that lies beside it, but for the runs."""
    with start(folder) as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (0, f" page: {folder / 'report.html'}\n", "")
    found = contents(folder)
    return {name: content for name, content in found.items() if not name.startswith("runs/")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return finish(tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.slow
def test_the_page(undisturbed: dict[str, bytes]) -> None:
    page = WrittenPage(undisturbed["report.html"].decode())
    assert page.mistakes == []
    figures = [figure.title for figure in FIGURES if figure.name in ("network", "budget", "energy")]
    assert [heading.text for heading in page.all("h2")][-5:] == [*figures, "Tours", "All numbers"]
    pictures = {"network", "budget", "energy", "tours"}
    drawn = {f"figures/{name}.{kind}" for name in pictures for kind in ("svg", "png")}
    tables = {f"figures/{name}.csv" for name in (*(pictures - {"tours"}), "claims")}
    assert set(undisturbed) == {"report.html", "figures/findings.json", *drawn, *tables}
    assert "flexpress reproduce --quick --figure budget" in undisturbed["report.html"].decode()
    assert "quick look" in undisturbed["report.html"].decode()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_started_again_it_is_the_same_page(
    number: signal.Signals, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    moments = random.Random(int(number))
    for awaited in ("metrics.csv", "model.npy"):
        with start(tmp_path) as process:
            while process.poll() is None and not list(tmp_path.glob(f"runs/*/{awaited}")):
                time.sleep(0.01)
            time.sleep(moments.random() / 2)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert out == ""
        if number == signal.SIGINT:
            assert process.returncode == 130
            assert err.startswith("flexpress: interrupted: ")
            assert err.endswith("start again to go on\n")
    assert finish(tmp_path) == undisturbed
