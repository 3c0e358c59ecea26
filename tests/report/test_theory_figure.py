"""Theory and run on one picture: which lines there are, and that they are drawn alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flexpress import InputError, save_theory_picture
from flexpress.report.figures.theory import _lemmas, _theorem_lines, _visible
from flexpress.scenario import Algorithm
from flexpress.theory import (
    Constants,
    Measured,
    RoundTrips,
    lemma1,
    lemma2_local,
    theorem1,
    theorem2,
    theorem3,
)

CONSTANTS = Constants(smoothness=2, gradient=1, noise=0.5, start_gap=3, start_gradient=0.8)
TOURS = RoundTrips((2, 1), (3, 5))
RATE = 0.1


def measured(scale: float, slots: int = 20) -> Measured:
    ramp = scale * np.arange(slots, dtype=float)
    return Measured(np.stack([ramp, 2 * ramp], axis=1), ramp, 3 * ramp, 0.1 + ramp)


RUNS = [measured(0.001), measured(0.003)]


@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_the_same_bytes(algorithm: Algorithm, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        save_theory_picture(
            tmp_path / name, RUNS, CONSTANTS, TOURS, algorithm=algorithm, learning_rate=RATE
        )
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_lines_of_sync() -> None:
    found, bound = _lemmas(RUNS, CONSTANTS, TOURS, "sync", RATE)
    assert found.values == pytest.approx(2 * 0.002 * np.arange(20))  # the client farthest off
    assert set(bound.values) == {lemma1(CONSTANTS, RATE, TOURS)}
    mean, total, *terms = _theorem_lines(RUNS, CONSTANTS, TOURS, "sync", RATE)
    assert mean.values[-1] == pytest.approx(0.1 + 0.002 * 19 / 2)
    assert total.first == 6
    assert total.values[-1] == theorem1(CONSTANTS, RATE, TOURS, 20).total
    assert sum(line.values for line in terms) == pytest.approx(total.values)


def test_lines_of_async() -> None:
    *_, found, bound = _lemmas(RUNS, CONSTANTS, TOURS, "async", RATE)
    assert found.values == pytest.approx(3 * 0.002 * np.arange(20))
    assert set(bound.values) == {lemma2_local(CONSTANTS, RATE, TOURS)}


def test_the_bounds_of_runs_with_a_head_start(tmp_path: Path) -> None:
    """Theorem 3 for Sync, and the larger factors for Async; not those of the paper."""
    runs = [replace(run, head_start=0.5) for run in RUNS]
    constants = replace(CONSTANTS, dissimilarity=0.3)
    _, total, *_ = _theorem_lines(runs, constants, TOURS, "sync", 0.01)
    assert total.name == "Theorem 3"
    assert total.values[-1] == theorem3(constants, 0.01, TOURS, 20, 0.5).total
    _, total, *_ = _theorem_lines(runs, constants, TOURS, "async", RATE)
    assert total.name == "Theorem 2"
    assert total.values[-1] == theorem2(constants, RATE, TOURS, 20, 0.5).total
    *_, bound = _lemmas(runs, constants, TOURS, "async", RATE)
    assert bound.values[0] == pytest.approx(lemma2_local(constants, RATE, TOURS) * 4.5**2 / 18)
    paper, ours = tmp_path / "a.png", tmp_path / "b.png"
    for file, shown in ((paper, RUNS), (ours, runs)):
        save_theory_picture(file, shown, constants, TOURS, algorithm="sync", learning_rate=0.01)
    assert paper.read_bytes() != ours.read_bytes()


def test_one_picture_is_of_one_head_start(tmp_path: Path) -> None:
    mixed = [RUNS[0], replace(RUNS[1], head_start=0.5)]
    with pytest.raises(InputError, match=r"^runs with head starts of 0, 0\.5: must be one"):
        save_theory_picture(
            tmp_path / "a.png", mixed, CONSTANTS, TOURS, algorithm="async", learning_rate=RATE
        )
    assert not (tmp_path / "a.png").exists()


def test_models_that_never_part_have_no_place(tmp_path: Path) -> None:
    """Tours of one slot: local models are the global one, and zero is not on the scale."""
    still = [measured(0.0)]
    lines = _lemmas(still, CONSTANTS, TOURS, "sync", RATE)
    assert [line.name for line in _visible(lines)] == ["Lemma 1"]
    save_theory_picture(
        tmp_path / "a.png", still, CONSTANTS, TOURS, algorithm="sync", learning_rate=RATE
    )


def test_runs_shorter_than_a_tour(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="horizon 5: must be more than the longest round trip"):
        save_theory_picture(
            tmp_path / "a.png",
            [measured(0.1, slots=5)],
            CONSTANTS,
            TOURS,
            algorithm="sync",
            learning_rate=RATE,
        )


def test_only_what_the_theorems_are_about(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='algorithm = "direct": must be one of sync, async'):
        save_theory_picture(
            tmp_path / "a.png", RUNS, CONSTANTS, TOURS, algorithm="direct", learning_rate=RATE
        )
    with pytest.raises(InputError, match="runs = \\[\\]: must be at least one"):
        save_theory_picture(
            tmp_path / "a.png", [], CONSTANTS, TOURS, algorithm="sync", learning_rate=RATE
        )
    assert not (tmp_path / "a.png").exists()
