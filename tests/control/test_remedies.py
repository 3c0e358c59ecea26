"""Remedies as changes of the scenario: after each, a plan fits."""

from __future__ import annotations

import pytest

from flexpress import InfeasibleError, Scenario, diagnose, make_plan
from flexpress.control.remedies import remedy_changes
from flexpress.files.disk import parse_toml
from flexpress.scenario import preset_text

TIGHT = Scenario.from_dict(
    {
        "name": "tight",
        "network": {"server": [0, 0], "clients": [[300, 0], [300, 400], [-300, 0], [-300, -400]]},
        "fleet": {"speeds": [10.0, "36 km/h"], "budgets": ["3.5 kJ", 3500.0]},
        "link": {"transfer_time": 10.0},
    }
)


def test_after_a_remedy_a_plan_fits() -> None:
    with pytest.raises(InfeasibleError):
        make_plan(TIGHT, solver="exact")
    changes = {r.change: remedy_changes(TIGHT, r) for r in diagnose(TIGHT)}
    assert set(changes) == {"budgets", "transporters", "speeds", "transfer time"}
    for change, keys in changes.items():
        if keys:
            fixed = TIGHT.replace(**keys)
            assert make_plan(fixed, solver="exact").feasible, change
    assert changes["budgets"]["fleet"] == {"budgets": ["4.002 kJ", "4002 J"]}
    assert len(changes["transporters"]["fleet"]["speeds"]) > 2  # type: ignore[arg-type]


def test_the_presets_fit_as_they_are() -> None:
    assert diagnose(Scenario.from_dict(parse_toml(preset_text("four"), "four"))) == []
