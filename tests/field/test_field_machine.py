"""Hypothesis looks for a schedule that breaks the protocol. I1 to I6 are checked at each step."""

from __future__ import annotations

import pytest
from disturbed_field import World
from field_state import BrokenError, Setting
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from mutants import MUTANTS
from schedules import ACTIONS

from flexpress.field.messages import Payload

PAYLOADS: st.SearchStrategy[Payload] = st.sampled_from(["parcel", "sum"])
NUMBERS = st.integers(0, 255)
PATIENT = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


class FieldMachine(RuleBasedStateMachine):
    """Any action at any time."""

    setting = Setting()
    world: World | None = None

    @initialize(payload=PAYLOADS, num_couriers=st.integers(1, 3), num_clients=st.integers(1, 4))
    def begin(self, payload: Payload, num_couriers: int, num_clients: int) -> None:
        mutant = self.setting
        self.world = World(Setting(payload, num_couriers, num_clients, mutant.book, mutant.desk))

    @rule(courier=NUMBERS, luck=NUMBERS, verdict=NUMBERS)
    def go_on(self, courier: int, luck: int, verdict: int) -> None:
        """As an action of its own, since tours must end to be of interest."""
        assert self.world is not None
        self.world.go_on(courier, luck, verdict)

    @rule(name=st.sampled_from(ACTIONS), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def act(self, name: str, a: int, b: int, c: int) -> None:
        getattr(self.world, name)(a, b, c)

    @invariant()
    def holds(self) -> None:
        if self.world is not None:
            self.world.check()
            self.world.check_recovery()


@pytest.mark.parametrize(
    "examples", [50, pytest.param(1_000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_hypothesis_finds_nothing(examples: int) -> None:
    run_state_machine_as_test(
        FieldMachine, settings=settings(PATIENT, max_examples=examples, stateful_step_count=40)
    )


def test_hypothesis_finds_a_mistake() -> None:
    class Mutant(FieldMachine):
        setting = MUTANTS["clients do not learn what was seen"][0]

    hasty = settings(PATIENT, max_examples=500, phases=[Phase.generate])  # it need not be short
    with pytest.raises(BrokenError):
        run_state_machine_as_test(Mutant, settings=hasty)
