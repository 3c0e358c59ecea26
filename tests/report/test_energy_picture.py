"""Energies: bars as high as the plan says, budgets where they are."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from shuttles import PLAN

from flexpress.report.energy_picture import EnergyGroup, energy_figure
from flexpress.report.svg import svg_text
from flexpress.report.theme import THEMES, Theme

LOOSE = EnergyGroup("15 kJ", (10e3, 12e3), (15e3, 15e3))
TIGHT = EnergyGroup("12 kJ", (11e3, 11.9e3), (12e3, 12e3))


def axes(figure: Figure) -> Axes:
    (ax,) = figure.axes
    return ax


def heights(ax: Axes) -> list[float]:
    return [patch.get_height() for patch in ax.patches]  # type: ignore[attr-defined]  # bars


def budgets(ax: Axes) -> list[float]:
    lines = [np.asarray(path.vertices) for lines in ax.collections for path in lines.get_paths()]
    return [float(line[0][1]) for line in lines]


def test_bars_and_budgets() -> None:
    ax = axes(energy_figure([LOOSE, TIGHT], title="Energy"))
    assert heights(ax) == [10, 12, 11, 11.9]
    assert budgets(ax) == [15, 12]
    texts = {text.get_text() for text in ax.texts}
    assert {"15 kJ", "12 kJ", "budget 15 kJ", "budget 12 kJ", "10.00", "11.90"} <= texts
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "1", "2"]
    assert ax.get_ylim()[1] > 15


def test_a_budget_of_its_own_for_each() -> None:
    group = EnergyGroup.of("plan", PLAN)
    assert group.energies == (4500.0, 2700.0)  # 30 W for 150 s and for 90 s
    ax = axes(energy_figure([group]))
    assert budgets(ax) == [6, 3]
    assert "budget" in {text.get_text() for text in ax.texts}


def test_without_budgets_there_is_no_line() -> None:
    ax = axes(energy_figure([EnergyGroup("free", (10e3, 100.0), (None, None))]))
    assert budgets(ax) == []
    assert heights(ax) == [10, 0.1]


def test_many_bars_have_no_numbers() -> None:
    ax = axes(energy_figure([EnergyGroup("crowd", (1e3,) * 50, (None,) * 50)]))
    assert [text.get_text() for text in ax.texts] == ["crowd"]
    assert list(ax.get_xticks()) == []


def test_nobody_flies() -> None:
    assert heights(axes(energy_figure([EnergyGroup("idle", (0.0,), (None,))]))) == [0]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_same_text(theme: Theme) -> None:
    first, second = (svg_text(energy_figure([LOOSE, TIGHT], theme=theme)) for _ in range(2))
    assert first == second
