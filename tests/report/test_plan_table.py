"""The table in the terminal: all figures, aligned, at any width."""

from __future__ import annotations

import io
from itertools import takewhile

import pytest
from rich.console import Console

from flexpress import Plan, Scenario
from flexpress.report.tables.plan import show_plan, visits
from flexpress.report.texts import column, cost_text, used_text
from flexpress.scenario import Objective

FOUR = Scenario.preset("four")
VALLEY = Scenario.preset("valley")
TOURS = [[6, 8, 10, 9, 7], [12, 5, 4, 3], [2, 11, 1]]


def plan_of(scenario: Scenario, tours: list[list[int]]) -> Plan:
    return Plan.of(scenario, "sws", tours, solver="exact", seed=3, seconds=1.25)


def shown(scenario: Scenario, plan: Plan, width: int) -> list[str]:
    text = io.StringIO()
    console = Console(file=text, width=width, markup=False, emoji=False, highlight=False)
    show_plan(console, scenario, plan)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_a_wide_terminal() -> None:
    assert shown(VALLEY, plan_of(VALLEY, TOURS), 80) == [
        " transporter  clients  length  round trip               energy  budget  used",
        "                            m           s   min  slots      kJ      kJ",
        "           1        5   5,471       450.8  7.51      8   12.93   15.00  86 %",
        "           2        4   2,821       330.1  5.50      6    9.43   12.00  78 %",
        "           3        3   1,429       214.7  3.58      4    6.08    8.00  76 %",
        "",
        " visits  in this order",
        "      1  island → gorge → spring → falls → bend",
        "      2  quarry → weir → ford → mill",
        "      3  bridge → creek → mouth",
        "",
        " valley: sws 1,590,417 s², feasible: every transporter keeps its budget",
        " solver exact, seed 3, 1.25 s",
    ]


@pytest.mark.parametrize("width", [25, 40, 60])
def test_a_narrow_terminal_loses_no_figure(width: int) -> None:
    text = " ".join(" ".join(shown(VALLEY, plan_of(VALLEY, TOURS), width)).split())
    for figure in ("5,471 m", "450.8 s", "7.51 min", "8 slots", "12.93 kJ", "15.00 kJ", "86 %"):
        assert figure in text
    assert "…" not in text


def test_unlimited_budgets_and_idle_transporters() -> None:
    lines = shown(FOUR, plan_of(FOUR, [[], [1, 2, 3, 4]]), 80)
    assert "budget" not in lines[0]
    assert "      1  idle" in lines
    assert any(line.endswith("feasible: budgets are unlimited") for line in lines)


def test_a_plan_over_budget_says_so() -> None:
    weak = FOUR.replace(fleet={"budgets": [100.0, 500.0]})
    lines = shown(weak, plan_of(weak, [[1, 2], [3, 4]]), 80)
    assert lines[2].endswith("400 %")
    assert any(line.endswith("not feasible: a transporter exceeds its budget") for line in lines)


def test_names_are_shown_as_they_are() -> None:
    odd = FOUR.replace(name="[bold]x", network={"ids": ["[red]", ":bee:", "c", "d"]})
    lines = shown(odd, plan_of(odd, [[1, 2], [3, 4]]), 80)
    assert "      1  [red] → :bee:" in lines
    assert any(line.startswith(" [bold]x: sws 784 s²") for line in lines)


def test_many_visits_are_shortened() -> None:
    def listed(clients: int, transporters: int) -> list[str]:
        scenario = FOUR.replace(
            network={"clients": [[1.0, float(y)] for y in range(clients)]},
            fleet={"speeds": [1.0] * transporters},
        )
        tours = [list(range(1, clients + 1)), *[list[int]()] * (transporters - 1)]
        return visits(scenario, plan_of(scenario, tours), ">")

    assert listed(50, 1) == [">".join(map(str, range(1, 51)))]
    assert listed(50, 60) == ["1>2>3>4>5>6>(43 more)>50", *["idle"] * 59]


def test_visits_are_told_by_names() -> None:
    names = ["pump", "pump", "", 10_000 * "W"]
    scenario = FOUR.replace(network={"names": names})
    text, _ = visits(scenario, plan_of(scenario, [[1, 2, 3, 4], []]), ">")
    first, second, third, fourth = text.split(">")
    assert [first, second, third] == ["pump (1)", "pump (2)", "3"]
    assert fourth.endswith("W…")
    assert len(fourth) <= 40


@pytest.mark.parametrize("width", [*range(1, 31), 45, 60, 80])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    lines = shown(VALLEY, plan_of(VALLEY, TOURS), width)
    words = " ".join(lines).split()
    for figure in ("5,471", "450.8", "7.51", "12.93", "15.00", "86", "1,590,417"):
        assert figure in words
    assert "…" not in "".join(lines)
    tables = list(takewhile(lambda line: not line.startswith(" valley:"), lines))
    assert max(map(len, tables)) <= max(width, 16)  # as wide as the longest word


@pytest.mark.parametrize(
    ("objective", "cost", "text"),
    [
        ("minmax", 14.0, "14 s"),
        ("total", 27.211102550927978, "27.2111 s"),
        ("sws", 784.0, "784 s²"),
        ("sws", 5963412.4, "5,963,412 s²"),
        ("total", 100.0, "100 s"),
        ("total", 0.0, "0 s"),
    ],
)
def test_costs_have_six_digits_and_a_unit(objective: Objective, cost: float, text: str) -> None:
    assert cost_text(objective, cost) == text


@pytest.mark.parametrize(
    ("objective", "cost", "text"),
    [
        ("minmax", 7.0, "7 slots"),
        ("minmax", 1.0, "1 slot"),
        ("total", 27.0, "27 slots"),
        ("sws", 2058.0, "2,058 slots²"),
        ("sws", 1.0, "1 slot²"),
    ],
)
def test_costs_in_slots(objective: Objective, cost: float, text: str) -> None:
    assert cost_text(objective, cost, "slots") == text


def test_the_table_of_a_plan_in_slots() -> None:
    plan = Plan.of(
        VALLEY, "sws", TOURS, solver="exact", seed=0, seconds=0.0, round_trips="slots"
    ).with_bound(480.0, "shared load")
    slots = [tour.round_trip_slots for tour in plan.transporters]
    assert plan.cost == sum(len(tour) * each**2 for tour, each in zip(TOURS, slots, strict=True))
    text = " ".join(" ".join(shown(VALLEY, plan, 80)).split())
    assert f"valley: sws {plan.cost:,.0f} slots², feasible" in text
    assert "no plan is below 480 slots², gap" in text


def test_a_column_has_the_decimals_of_its_largest() -> None:
    assert column([1234.5, 7.25]) == ["1,234", "7"]
    assert column([12.345, 7.25]) == ["12.35", "7.25"]
    assert column([0.0]) == ["0"]
    assert column([]) == []


def test_used_is_rounded_down() -> None:
    assert used_text(14.999e3, 15e3) == "99 %"
    assert used_text(15e3, 15e3) == "100 %"
    assert used_text(1.0, None) == ""
