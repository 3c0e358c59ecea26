"""What tests ask of the nursery."""

from __future__ import annotations

import signal

import msgspec


class Order(msgspec.Struct, frozen=True):
    """Start the program of this kit."""

    field: str  # whose events these are
    name: str
    kit: str
    dies_at: int | None = None  # before or after which of its durable steps it ends itself
    step: str = ""  # counting those of this name only
    by: int = signal.SIGKILL
    no_room: tuple[int, int] = (0, 0)  # from which of its durable steps on, before which again
    leaps_at: int | None = None  # at which of them the computer's clock is set ten years ahead
    restored: bool = False  # a server whose kit is an older copy
    counts: bool = True  # it learns with the ledger, not with images


def role(name: str) -> str:
    """server, courier or client."""
    return name.partition("-")[0]
