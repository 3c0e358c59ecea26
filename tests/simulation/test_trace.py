"""The first slot with an accuracy, and the accuracy that several runs reached."""

from __future__ import annotations

import pytest

from flexpress.simulation.trace import Measurement, common_target, first_with


def curve(*accuracies: float) -> list[Measurement]:
    """A measurement every 25 slots."""
    return [Measurement(25 * j, 1500.0 * j, 1.0, accuracy) for j, accuracy in enumerate(accuracies)]


@pytest.mark.parametrize(
    ("accuracy", "slot"), [(0.5, 25), (0.05, 0), (0.55, 100), (0.6 + 1e-12, 100), (0.65, None)]
)
def test_the_first_slot_with_an_accuracy(accuracy: float, slot: int | None) -> None:
    metrics = curve(0.1, 0.5, 0.4, 0.5, 0.6)
    found = first_with(accuracy, metrics)
    assert (None if found is None else (found.slot, found.seconds)) == (
        None if slot is None else (slot, 60.0 * slot)
    )


def test_rounding_does_not_hide_it() -> None:
    found = first_with(0.3, curve(0.0, 0.3 - 1e-12))
    assert found is not None
    assert found.slot == 25


@pytest.mark.parametrize(
    ("best", "target"),
    [(0.5, 0.5), (0.4999, 0.45), (0.3 - 1e-12, 0.3), (0.15, 0.15), (0.049, None), (None, None)],
)
def test_the_target_is_the_highest_multiple_of_five_per_cent(
    best: float | None, target: float | None
) -> None:
    assert common_target([0.9, best]) == target


def test_no_runs_have_no_target() -> None:
    assert common_target([]) is None
