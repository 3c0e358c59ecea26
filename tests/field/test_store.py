"""Tables and files on the disk: what is committed is there again, and nothing else."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.field.desk import CLIENT_ROWS, DESK, DeskRow
from flexpress.field.hold import COURIER_ROWS
from flexpress.field.store import DATABASE, Files, Store
from flexpress.field.tables import Refused

ROW = DeskRow("0" * 16, 7)


def test_what_is_committed_is_there_again(tmp_path: Path) -> None:
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        store.commit([DESK.put("", ROW), DESK.put("other", ROW)])
        store.commit([DESK.delete("other")])
        assert DESK.rows(store.tables) == {"": ROW}
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        assert DESK.rows(store.tables) == {"": ROW}


def test_two_programs_cannot_open_one_folder(tmp_path: Path) -> None:
    with Store.open(tmp_path, CLIENT_ROWS), pytest.raises(InputError, match="another run"):
        Store.open(tmp_path, CLIENT_ROWS)
    Store.open(tmp_path, CLIENT_ROWS).close()


def test_a_database_of_another_program(tmp_path: Path) -> None:
    Store.open(tmp_path, CLIENT_ROWS).close()
    with pytest.raises(InputError, match="another program"):
        Store.open(tmp_path, COURIER_ROWS)


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as database:
        database.execute("CREATE TABLE rows (name, key, value)")
    database.close()
    with pytest.raises(InputError, match="not a database of a field program"):
        Store.open(tmp_path, CLIENT_ROWS)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database" * 1000)
    with pytest.raises(InputError, match="damaged"):
        Store.open(tmp_path, CLIENT_ROWS)


def test_a_transfer_goes_on_where_it_was(tmp_path: Path) -> None:
    content = b"0123456789"
    sha = hashlib.sha256(content).hexdigest()
    files = Files(tmp_path / "vectors")
    path, offset = files.partial(sha)
    assert offset == 0
    path.write_bytes(content[:4])
    files = Files(tmp_path / "vectors")
    assert files.partial(sha) == (path, 4)
    assert not files.has(sha)
    with path.open("ab") as file:
        file.write(content[4:])
    files.finish(sha)
    assert files.has(sha)
    assert files.read(sha) == content
    assert files.partial(sha) == (path, 0)


def test_a_file_without_its_digest_gets_no_name(tmp_path: Path) -> None:
    files = Files(tmp_path)
    sha = hashlib.sha256(b"one thing").hexdigest()
    files.partial(sha)[0].write_bytes(b"another thing")
    with pytest.raises(Refused, match="send it again") as caught:
        files.finish(sha)
    assert caught.value.status == 422
    assert not files.has(sha)
    assert files.partial(sha)[1] == 0
