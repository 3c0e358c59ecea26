"""What a run is made of: with the same origin, its results are the same, bit for bit."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from flexpress.files.provenance import digest
from flexpress.files.versions import versions
from flexpress.learning import Learner
from flexpress.learning.summing import SummingLearner
from flexpress.planning import Plan
from flexpress.scenario import Scenario

Origin = dict[str, str]
"""Digests of the inputs and versions of the packages, by their names."""

ANOTHER = {
    "scenario": "another scenario",
    "plan": "another plan",
    "data": "other data",
    "model": "other code of learning.model",
}


def origin_of(scenario: Scenario, plan: Plan, learner: Learner) -> Origin:
    """A learner of the user's own has no data that we know of."""
    return {
        **made_of(scenario, plan, getattr(learner, "data_digest", "")),
        **versions(by_torch="TorchLearner" in kind_of(learner)),
    }


def made_of(scenario: Scenario, plan: Plan, data: str) -> Origin:
    """All but the versions. How a scenario is called does not matter to its results."""
    return {
        "scenario": text_digest(comparable(scenario.replace(name="run"))),
        "plan": text_digest([tour.clients for tour in plan.transporters]),
        "data": data,
        "model": own_code(scenario.learning.model),
    }


def own_code(name: str) -> str:
    """Of the module that a model of the user's own is in; it was imported when it was made."""
    module = sys.modules.get(name.partition(":")[0]) if ":" in name else None
    file = getattr(module, "__file__", None)
    return digest(Path(file)) if file else ""


def kind_of(learner: Learner) -> str:
    """What must be the same for the same bytes."""
    return learner.kind if isinstance(learner, SummingLearner) else type(learner).__name__


def what_differs(stored: Origin, ours: Origin) -> str:
    """The first thing that the stored origin has differently, in words; or nothing."""
    for name in {**stored, **ours}:
        theirs, mine = stored.get(name), ours.get(name)
        if theirs != mine:
            return (
                ANOTHER.get(name)
                or f"{name} {theirs or 'missing'}, and here it is {mine or 'missing'}"
            )
    return ""


def comparable(scenario: Scenario) -> Mapping[str, object]:
    """All but how long it runs, and where its data lie."""
    return scenario.replace(run={"horizon": None}, learning={"data_dir": None}).to_dict()


def difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """The first key, dotted, in which two nested mappings differ; or nothing."""
    for key in [*one, *(key for key in other if key not in one)]:
        ours, theirs = one.get(key), other.get(key)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            inner = difference(ours, theirs)
            if inner:
                return f"{key}.{inner}"
        elif ours != theirs:
            return key
    return ""


def text_digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
