"""The origin of a run: all that its results depend on, bit for bit."""

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

_ANOTHER = {
    "scenario": "another scenario",
    "plan": "another plan",
    "data": "other data",
    "model": "other code of learning.model",
}


def origin_of(scenario: Scenario, plan: Plan, learner: Learner) -> Origin:
    """The data of a user's own learner are unknown: their digest is empty."""
    return {
        **made_of(scenario, plan, getattr(learner, "data_digest", "")),
        **versions(by_torch="TorchLearner" in kind_of(learner)),
    }


def made_of(scenario: Scenario, plan: Plan, data: str) -> Origin:
    """Everything but the versions. The name of a scenario does not affect its results."""
    return {
        "scenario": text_digest(comparable(scenario.replace(name="run"))),
        "plan": text_digest([tour.clients for tour in plan.transporters]),
        "data": data,
        "model": _own_code(scenario.learning.model),
    }


def _own_code(name: str) -> str:
    """The digest of the module that defines a user's own model; it is already imported."""
    module = sys.modules.get(name.partition(":")[0]) if ":" in name else None
    file = getattr(module, "__file__", None)
    return digest(Path(file)) if file else ""


def kind_of(learner: Learner) -> str:
    """Learners of one kind produce the same bytes."""
    return learner.kind if isinstance(learner, SummingLearner) else type(learner).__name__


def what_differs(stored: Origin, ours: Origin) -> str:
    """The first difference of the stored origin from ours, in words; empty if there is none."""
    for name in {**stored, **ours}:
        theirs, mine = stored.get(name), ours.get(name)
        if theirs != mine:
            return (
                _ANOTHER.get(name)
                or f"{name} {theirs or 'missing'}, and here it is {mine or 'missing'}"
            )
    return ""


def comparable(scenario: Scenario) -> Mapping[str, object]:
    """The scenario without its horizon and the place of its data."""
    return scenario.replace(run={"horizon": None}, learning={"data_dir": None}).to_dict()


def difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """The first key, dotted, in which two nested mappings differ; empty if there is none."""
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
