"""A server's program without a port: its book, its files, and a mission that it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from small_field import RUN

from flexpress.field import server as program
from flexpress.field.book_rows import SERVER_ROWS
from flexpress.field.identity import KEY as KEY_FILE
from flexpress.field.identity import issue, make_authority
from flexpress.field.kit import Entry, ServerKit
from flexpress.field.log import Log
from flexpress.field.store import Store
from flexpress.learning import Quadratic

KEY = "0" * 64
ROSTER = (
    Entry("courier-1", "courier", KEY, 1),
    Entry("client-1", "client", KEY, 0, 1, "courier-1", "localhost", 1),
)


KIT = ServerKit(
    RUN, "server", "sum", 3, "float64", 1.0, "localhost", 1, clock="wall", roster=ROSTER
)


@contextmanager
def lone_server(folder: Path, kit: ServerKit) -> Iterator[program._Server]:
    if not (folder / KEY_FILE).exists():
        issue(make_authority(folder / "authority"), "server", "server", folder)
    learner = Quadratic.random((1,), params=3, seed=1)
    with Store.open(folder / "state", SERVER_ROWS) as store:
        yield program._Server(folder, kit, learner, store, Log("server", sink=lambda entry: None))
