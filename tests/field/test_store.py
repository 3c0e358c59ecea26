"""Tables and files on the disk: what is committed is there again, and nothing else."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.field import store as store_module
from flexpress.field.desk import CLIENT_ROWS, DESK, DeskRow
from flexpress.field.hold import COURIER_ROWS
from flexpress.field.store import DATABASE, Files, Store
from flexpress.field.tables import Refused

ROW, ROW_8 = DeskRow("0" * 16, 7), DeskRow("0" * 16, 8)


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


def test_a_digest_is_not_a_path(tmp_path: Path) -> None:
    files = Files(tmp_path)
    for name in ("../field.db", "", "A" * 64, "a" * 63, "a" * 64 + "\n"):
        with pytest.raises(Refused, match="64 hexadecimal digits"):
            files.has(name)


def test_writing_twice_is_writing_once(tmp_path: Path) -> None:
    files = Files(tmp_path)
    sha = files.write(b"content")
    before = files.path(sha).stat().st_mtime_ns
    assert files.write(b"content") == sha
    assert files.path(sha).stat().st_mtime_ns == before
    files.partial(sha)[0].write_bytes(b"a late transfer of the same")
    files.finish(sha)
    assert files.read(sha) == b"content"
    assert files.offset(sha) is None
    assert [path.name for path in tmp_path.iterdir()] == [sha]


def test_two_threads_may_write_the_same(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        for turn in range(20):
            content = bytes([turn]) * 2**16
            assert len(set(pool.map(files.write, [content] * 8))) == 1
    assert len(files.names()) == len(list(tmp_path.iterdir())) == 20


def test_files_that_nobody_needs_go(tmp_path: Path) -> None:
    files = Files(tmp_path)
    kept, gone = files.write(b"kept"), files.write(b"gone")
    coming, given_up = "1" * 64, "2" * 64
    for sha in (coming, given_up):
        files.partial(sha)[0].write_bytes(b"part")
    (tmp_path / "notes.txt").write_text("somebody else's")
    files.remove_unless({kept, coming})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [kept, f"{coming}.part", "notes.txt"]
    )
    assert not files.has(gone)


def test_a_file_that_has_changed_on_the_disk(tmp_path: Path) -> None:
    files = Files(tmp_path)
    sha = files.write(b"content")
    files.path(sha).write_bytes(b"c0ntent")
    with pytest.raises(InputError, match="its digest differs"):
        files.read(sha)
    files.path(sha).unlink()
    with pytest.raises(InputError, match="cannot be read"):
        files.read(sha)


def test_a_row_of_another_shape(tmp_path: Path) -> None:
    Store.open(tmp_path, CLIENT_ROWS).close()
    database = sqlite3.connect(tmp_path / DATABASE)
    with database:
        database.execute("INSERT INTO rows VALUES ('desk', '', '{\"incarnation\": 7}')")
    database.close()
    with pytest.raises(InputError, match="damaged"):
        Store.open(tmp_path, CLIENT_ROWS)


def test_a_database_of_a_later_flexpress(tmp_path: Path) -> None:
    Store.open(tmp_path, CLIENT_ROWS).close()
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute("PRAGMA user_version = 2")
    database.close()
    with pytest.raises(InputError, match="has version 2"):
        Store.open(tmp_path, CLIENT_ROWS)


def test_durability_is_asked_for(tmp_path: Path) -> None:
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        ask = store._database.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        store.commit([DESK.put("", ROW)])
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")
        many = [DESK.put("", ROW_8), *(DESK.put(f"{number:0200}", ROW) for number in range(1000))]
        with pytest.raises(InputError, match=r"field.db: cannot be written: .*full; make room"):
            store.commit(many)
        assert DESK.rows(store.tables) == {"": ROW}
        store._database.execute("PRAGMA max_page_count = 100000")
        store.commit([DESK.put("", ROW_8)])
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        assert DESK.rows(store.tables) == {"": ROW_8}


def test_a_disk_that_became_read_only(tmp_path: Path) -> None:
    with Store.open(tmp_path, CLIENT_ROWS) as store:
        store._database.execute("PRAGMA query_only = ON")
        with pytest.raises(InputError, match="readonly"):
            store.commit([DESK.put("", ROW)])
        assert not DESK.rows(store.tables)


@pytest.mark.parametrize("step", ["before file", "before rename"])
def test_a_vector_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Nothing of it is left; the part of a transfer is, and is finished when there is room."""

    def full(reached: str) -> None:
        if reached == step:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    files = Files(tmp_path)
    sha = hashlib.sha256(b"part").hexdigest()
    files.partial(sha)[0].write_bytes(b"part")
    monkeypatch.setattr(store_module, "durable", full)
    with pytest.raises(InputError, match="No space left on device; make room"):
        files.write(b"content")
    with pytest.raises(InputError, match="No space left on device; make room"):
        files.finish(sha)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == [f"{sha}.part"]
    files.finish(sha)
    assert files.read(sha) == b"part"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user without privileges")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    Store.open(tmp_path, CLIENT_ROWS).close()
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="Permission denied"):
            Store.open(tmp_path, CLIENT_ROWS)
        with pytest.raises(InputError, match="Permission denied"):
            Files(tmp_path).write(b"content")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "kit").write_text("")
    with pytest.raises(InputError, match="is a file; name a folder"):
        Store.open(tmp_path / "kit", CLIENT_ROWS)
    with pytest.raises(InputError, match="is a file; name a folder"):
        Files(tmp_path / "kit")
