"""What would help: each remedy is enough, and little less is not, as the exact solver says."""

from __future__ import annotations

import math

import pytest
from thinned import by_default

from flexpress import Scenario, diagnose
from flexpress.planning.diagnosis import Remedy
from flexpress.planning.exact import solve_exact
from flexpress.planning.problem import Problem

SMALL = Scenario.from_dict(
    {
        "network": {
            "server": [0, 0],
            "clients": [[300, 0], [300, 400], [-300, 0], [-300, -400], [0, 500], [200, -300]],
        },
        "fleet": {"speeds": [10, 8], "budgets": [6000, 6000]},
        "link": {"rate": "10 Mbit/s", "model_size": "20 MB"},
    }
)
REMEDIES = {remedy.change: remedy for remedy in diagnose(SMALL)}


def fits(scenario: Scenario) -> bool:
    return solve_exact(Problem.of(scenario), "total") is not None


def with_budgets(factor: float) -> Scenario:
    return SMALL.replace(fleet={"budgets": [6000 * factor] * 2})


def with_speeds(factor: float) -> Scenario:
    return SMALL.replace(fleet={"speeds": [10 * factor, 8 * factor]})


def with_model(factor: float) -> Scenario:
    return SMALL.replace(link={"model_size": 20e6 * factor})


def with_transporters(number: int) -> Scenario:
    more = number - 2
    return SMALL.replace(fleet={"speeds": [10, 8] + [10] * more, "budgets": [6000] * number})


def test_nothing_fits_at_first() -> None:
    assert not fits(SMALL)
    assert len(REMEDIES) == 4


def factor(change: str) -> float:
    found = REMEDIES[change].factor
    assert found is not None
    return found


def test_budgets() -> None:
    assert fits(with_budgets(factor("budgets") * (1 + 1e-9)))
    assert not fits(with_budgets(factor("budgets") * 0.999))


def test_speeds() -> None:
    assert fits(with_speeds(factor("speeds")))
    assert not fits(with_speeds(factor("speeds") - 0.01))


def test_model_size() -> None:
    assert fits(with_model(factor("model size")))
    assert not fits(with_model(factor("model size") + 0.01))


def test_transporters() -> None:
    number = round(2 * factor("transporters"))
    assert fits(with_transporters(number))
    assert not fits(with_transporters(number - 1))


def test_the_least_change_comes_first() -> None:
    efforts = [remedy.effort for remedy in diagnose(SMALL)]
    assert efforts == sorted(efforts)


def test_texts_name_the_new_value_and_the_old() -> None:
    """Rounded so that they are enough: budgets and speeds up, the model's size down."""
    assert 6650 < 6000 * factor("budgets") < 6651
    assert REMEDIES["budgets"].text == "6,651 J instead of 6,000 J"
    speed = math.ceil(1000 * factor("speeds")) / 100
    assert REMEDIES["speeds"].text == (
        f"{speed:.4g} m/s instead of 10 m/s, the others in proportion"
    )
    size = math.floor(20_000 * factor("model size")) / 1000
    assert REMEDIES["model size"].text == f"{size:.4g} MB instead of 20 MB"


def test_nothing_to_remedy() -> None:
    assert diagnose(Scenario.preset("valley")) == []
    assert diagnose(SMALL.replace(fleet={"budgets": None})) == []


def test_a_client_out_of_reach_is_not_helped_by_more_of_the_same() -> None:
    far = Scenario.preset("valley").replace(fleet={"budgets": ["6 kJ"] * 3})
    remedies = {remedy.change: remedy for remedy in diagnose(far)}
    assert remedies["transporters"] == Remedy(
        "transporters",
        None,
        "more do not help: none can fly straight to client spring and back",
    )
    assert remedies["transfer time"] == Remedy(
        "transfer time", None, "no transfer time is small enough"
    )


def test_slower_helps_where_speed_takes_power() -> None:
    """c1 V^2 + c2 / V^2 joules a metre: least at V = (c2 / c1)^(1/4), about 8 m/s here."""
    hasty = SMALL.replace(
        fleet={"speeds": [20, 20]},
        power={"flight": None, "c1": 0.02, "c2": 100.0},
    )
    remedies = {remedy.change: remedy for remedy in diagnose(hasty)}
    found = remedies["speeds"].factor
    assert found is not None
    assert 0.25 < found < 1
    assert fits(hasty.replace(fleet={"speeds": [20 * found] * 2}))


def test_stopped_at_once_it_says_nothing() -> None:
    assert diagnose(SMALL, should_stop=lambda: True) == []


@pytest.mark.parametrize("seed", by_default(1, [0, 1]))
def test_the_same_seed_gives_the_same_answer(seed: int) -> None:
    assert diagnose(SMALL, seed=seed) == diagnose(SMALL, seed=seed)
