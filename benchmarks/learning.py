"""Client-steps per second on the paper's work: our learners, plain torch, Flower and pfl.

One contest for each workload. Where a contestant was tried with both orders of an image in memory,
only its better one, by CPU time, is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from contest import Entry, contest
from measure import in_own_process
from peak import multiply_peak, step_operations
from player import Contestant, Player, Turn, players
from printer import Printer
from spread import spread, tenths, whole
from workload import BATCHES, NUM_STEPS, PRESETS, Workload

from flexpress.learning.architecture import lenet

HERE = Path(__file__).parent
BOTH = (False, True)
LABEL, CELL = 18, 22
"""Widths of the columns."""

PEERS = {"flower": ("flwr", "ray", "torch", "numpy"), "pfl": ("pfl", "torch", "numpy")}
"""Packages that are told of each environment."""

IMAGES = {"FMNIST": (1, 28, 28), "SVHN": (3, 32, 32)}
NUM_CLIENTS = 40

Found = dict[str, list[Turn]]
"""The turns of each contestant, in its better order."""


def contestants() -> list[Contestant]:
    """Peers whose environment was not made cannot be started, which is then told."""
    flower, pfl = (str(HERE.parent / f".venv-{name}/bin/python") for name in ("flower", "pfl"))
    return [
        Contestant("fast", (sys.executable, str(HERE / "own_learners.py"), "fast")),
        Contestant("reference", (sys.executable, str(HERE / "own_learners.py"), "torch")),
        Contestant("torch", (sys.executable, str(HERE / "torch_peer.py")), BOTH),
        Contestant("Flower", (flower, str(HERE / "flower_peer.py"), "documented"), BOTH),
        Contestant("Flower, tuned", (flower, str(HERE / "flower_peer.py"), "tuned"), BOTH),
        Contestant("pfl", (pfl, str(HERE / "pfl_peer.py")), BOTH),
    ]


def pinned_versions(peer: str) -> str:
    """Of what matters in its environment."""
    pins = (line.split("==") for line in (HERE / f"{peer}.txt").read_text().splitlines())
    found = {pin[0]: pin[1] for pin in pins if len(pin) == 2}
    return ", ".join(f"{name} {found[name]}" for name in PEERS[peer])


def learn(printer: Printer, *, repeats: int, quick: bool) -> None:
    """`quick` does one workload only."""
    peak = in_own_process(multiply_peak)
    printer.say(*(f"{name}: {pinned_versions(name)}." for name in PEERS), "")
    printer.say(f"Products of float32 matrices on this core: {peak / 1e9:.1f} GFLOP/s.", "")
    works = [Workload(name, size) for name in PRESETS for size in BATCHES]
    works = [Workload("FMNIST", 20)] if quick else works
    with players(contestants()) as all_players:
        found = {work: run(printer, work, all_players, repeats) for work in works}
    for player in all_players:
        if player.lost is not None:
            printer.say(f"{player.contestant.name} is left out: {player.lost}.", "")
    names = [player.contestant.name for player in all_players if player.lost is None]
    show(printer, "client-steps per CPU s", names, found, lambda turn: turn.cpu)
    show(printer, "client-steps per wall s", names, found, lambda turn: turn.wall)
    show_ratios(printer, names, found, peak)


def run(printer: Printer, work: Workload, all_players: Sequence[Player], repeats: int) -> Found:
    printer.tell(work.name)
    turns = contest(work, all_players, repeats)
    printer.tell()
    return better_orders(turns)


def better_orders(turns: dict[Entry, list[Turn]]) -> Found:
    """By the median of client-steps per CPU second."""
    found: Found = {}
    for (name, _), of_entry in turns.items():
        if name not in found or median_rate(of_entry) > median_rate(found[name]):
            found[name] = of_entry
    return found


def median_rate(turns: Sequence[Turn]) -> float:
    return float(np.median(rates(turns, lambda turn: turn.cpu)))


def rates(turns: Sequence[Turn], seconds: Callable[[Turn], float]) -> list[float]:
    return [turn.rounds * NUM_CLIENTS * NUM_STEPS / seconds(turn) for turn in turns]


def show(
    printer: Printer,
    title: str,
    names: Sequence[str],
    found: dict[Workload, Found],
    seconds: Callable[[Turn], float],
) -> None:
    rows = [
        [work.name, *(spread(rates(of_work[name], seconds), whole) for name in names)]
        for work, of_work in found.items()
    ]
    printer.table([title, *names], rows, [LABEL + 6, *(CELL for _ in names)])


def show_ratios(
    printer: Printer, names: Sequence[str], found: dict[Workload, Found], peak: float
) -> None:
    """Ratios are those of turns side by side."""
    others = [name for name in names if name != "fast"]
    rows = []
    for work, of_work in found.items():
        fast = np.array(rates(of_work["fast"], lambda turn: turn.cpu))
        ratios = [
            spread(list(fast / np.array(rates(of_work[name], lambda turn: turn.cpu))), tenths)
            for name in others
        ]
        operations = step_operations(lenet(IMAGES[work.dataset], 10), work.batch_size)
        shares = [f"{100 * median_rate(of_work[name]) * operations / peak:.0f} %" for name in names]
        rows.append([work.name, *ratios, " / ".join(shares)])
    head = ["speed-up of fast over", *(f"{name} (CPU)" for name in others)]
    printer.table(
        [*head, f"share of the peak: {' / '.join(names)}"],
        rows,
        [LABEL + 6, *(CELL for _ in others), CELL + 30],
    )
