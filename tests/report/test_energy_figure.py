"""Energies: bars as high as the plan says, budgets where they are."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import overlapping, png_size, texts
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from shuttles import PLAN, SHUTTLES

from flexpress import Plan
from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.map import _draw_map
from flexpress.report.figures.picture import _svg_text, png_bytes
from flexpress.report.figures.style import _THEMES, Theme
from flexpress.report.page.plans import _energy_picture

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
    group = EnergyGroup.of("plan", SHUTTLES, PLAN)
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


@pytest.mark.parametrize("transporters", [2, 12])
def test_a_bar_has_the_colour_of_its_transporter_on_the_map(transporters: int) -> None:
    clients = [[100.0 * (j + 1), 50.0 * (-1) ** j] for j in range(12)]
    scenario = SHUTTLES.replace(
        network={"clients": clients, "ids": None},
        fleet={"speeds": [1.0] * transporters, "budgets": None},
    )
    tours = [list(range(k + 1, 13, transporters)) for k in range(transporters)]
    plan = Plan.of(scenario, "sws", tours, solver="search", seed=0, seconds=0.0)
    bars = axes(energy_figure([EnergyGroup.of("", scenario, plan)])).patches
    lines = _draw_map(scenario, plan).lines
    assert [to_hex(bar.get_edgecolor()) for bar in bars] == [
        to_hex(line.get_color()) for line in lines
    ]


def test_the_picture_of_a_page_says_what_it_shows() -> None:
    picture = _energy_picture("energy", SHUTTLES, PLAN)
    assert "Energy of one tour of each transporter" in picture.light
    assert ">transporter<" in picture.light
    assert "minmax" not in picture.light


@pytest.mark.parametrize("transporters", [2, 60])
def test_no_text_stands_on_another(transporters: int) -> None:
    groups = [
        EnergyGroup(label, (1e4,) * transporters, (1.5e4,) * transporters)
        for label in ("sws", 300 * "W")
    ]
    figure = energy_figure(groups, title=2000 * "t")
    assert overlapping(figure, texts(figure)) == []
    assert max(png_size(png_bytes(figure, 100))) < 1500


def test_nobody_flies() -> None:
    assert heights(axes(energy_figure([EnergyGroup("idle", (0.0,), (None,))]))) == [0]


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_the_same_text(theme: Theme) -> None:
    first, second = (_svg_text(energy_figure([LOOSE, TIGHT], theme=theme)) for _ in range(2))
    assert first == second
