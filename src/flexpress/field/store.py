"""What survives a crash: tables in one SQLite database, and vectors in files.

The database is `field.db` in the folder of a program, and one program at a time may use it. Rows
are JSON, checked against their types when they are read. All of them are in memory as well
(`Store.tables`), changed after the commit and never before it. Vectors are in `Files`, each named
by its SHA-256; a file has its name only when it is whole and durable.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from flexpress.errors import InputError
from flexpress.field.tables import Change, Put, Refused, Tables, apply_changes, empty_tables
from flexpress.files.disk import DiskFullError, is_full, make_folder, reason
from flexpress.files.lock import sole_use

DATABASE = "field.db"

_APPLICATION = 0x464C5850  # "FLXP", in the header of the database
_SCHEMA = 1
_ROWS = "CREATE TABLE rows (name TEXT, key TEXT, value BLOB NOT NULL, PRIMARY KEY (name, key))"
_KIND = "CREATE TABLE kind (tables TEXT NOT NULL)"
_PUT = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_DELETE = "DELETE FROM rows WHERE name = ? AND key = ?"
_NAME = re.compile("[0-9a-f]{64}")
_BLOCK = 2**20
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
"""The disk is full; the others are what SQLite makes of a quota, and of its shared memory file."""


def durable(step: str) -> None:
    """Called just before and just after each step that makes something durable. Does nothing.

    Tests replace it, to end the process at any of these moments.
    """


@contextmanager
def _durably(step: str) -> Iterator[None]:
    durable(f"before {step}")
    yield
    durable(f"after {step}")


class Store:
    """The tables of one program, in its folder. Close it at the end."""

    def __init__(
        self, path: Path, database: sqlite3.Connection, tables: Tables, held: ExitStack
    ) -> None:
        """Use `Store.open`."""
        self._path = path
        self._database = database
        self._held = held
        self.tables = tables

    @classmethod
    def open(cls, folder: Path, row_types: Mapping[str, type[msgspec.Struct]]) -> Store:
        """InputError if another program uses the folder, or if its database is of another kind."""
        with ExitStack() as stack:
            stack.enter_context(sole_use(folder))
            path = folder / DATABASE
            with _errors(path):
                database = sqlite3.connect(path, isolation_level=None, timeout=0.0)
                stack.callback(database.close)
                _prepare(path, database, sorted(row_types))
                tables = _load(path, database, row_types)
            _sync_folder(folder)
            return cls(path, database, tables, stack.pop_all())
        raise AssertionError("unreachable: nothing above is suppressed")

    def commit(self, changes: Sequence[Change]) -> None:
        """All of them or, with an InputError, none; then in `tables` as well."""
        if not changes:
            return
        with _errors(self._path), _durably("commit"), _transaction(self._database):
            for change in changes:
                self._write(change)
        apply_changes(self.tables, changes)

    def _write(self, change: Change) -> None:
        if isinstance(change, Put):
            value = msgspec.json.encode(change.row)
            self._database.execute(_PUT, (change.table, change.key, value))
        else:
            self._database.execute(_DELETE, (change.table, change.key))

    def close(self) -> None:
        self._held.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _prepare(path: Path, database: sqlite3.Connection, names: list[str]) -> None:
    """A new database gets its tables; any other must be one of ours, with the same tables."""
    database.execute("PRAGMA synchronous = FULL")
    if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        database.execute("PRAGMA journal_mode = WAL")
        with _durably("creation"), _transaction(database):
            database.execute(_ROWS)
            database.execute(_KIND)
            database.execute("INSERT INTO kind VALUES (?)", (" ".join(names),))
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_SCHEMA}")
        return
    if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise InputError(f"{path}: not a database of a field program; name another folder")
    schema = database.execute("PRAGMA user_version").fetchone()[0]
    if schema != _SCHEMA:
        raise InputError(f"{path}: has version {schema}, and this flexpress reads {_SCHEMA}")
    if database.execute("SELECT tables FROM kind").fetchall() != [(" ".join(names),)]:
        raise InputError(f"{path}: is of another program; name the folder of this one")


def _load(
    path: Path, database: sqlite3.Connection, row_types: Mapping[str, type[msgspec.Struct]]
) -> Tables:
    tables = empty_tables(row_types)
    for name, key, value in database.execute("SELECT name, key, value FROM rows ORDER BY 1, 2"):
        try:
            tables[name][key] = msgspec.json.decode(value, type=row_types[name])
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError):
            raise _damaged(path) from None
    return tables


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # there may be none any more
            database.execute("ROLLBACK")
        raise


@contextmanager
def _errors(path: Path, needed: int | None = None) -> Iterator[None]:
    """Errors of the disk and of SQLite in one line; DiskFullError if there is no room."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        remedy = "make room on the disk, or repair it, and start again"
        if is_full(error) if isinstance(error, OSError) else error.sqlite_errorcode in _NO_ROOM:
            raise DiskFullError(path, why, remedy, needed) from None
        raise InputError(f"{path}: cannot be written: {why}; {remedy}") from None
    except sqlite3.DatabaseError:
        raise _damaged(path) from None


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: is damaged, or no database; start again with an empty folder")


class Files:
    """Vectors in a folder. Partial ones are beside them, so that a transfer can go on."""

    def __init__(self, folder: Path) -> None:
        """The folder is made if it is missing."""
        self._folder = folder
        make_folder(folder)
        with _errors(folder):
            for draft in folder.glob("*.draft"):  # of a process that was ended
                draft.unlink(missing_ok=True)
            _sync_folder(folder)  # names that it gave last may not be durable yet

    def path(self, sha: str) -> Path:
        """Refused (422) if this is not a digest: it may come from a peer, as part of an address."""
        if not _NAME.fullmatch(sha):
            raise Refused(422, "a content is named by its SHA-256, in 64 hexadecimal digits")
        return self._folder / sha

    def has(self, sha: str) -> bool:
        """The whole of it, durable."""
        return self.path(sha).is_file()

    def offset(self, sha: str) -> int | None:
        """Where a transfer goes on; None if the whole is here, durable.

        A part with all its bytes is not: who is killed before it has its name needs one more word.
        """
        return None if self.has(sha) else self.partial(sha)[1]

    def partial(self, sha: str) -> tuple[Path, int]:
        """Where a transfer appends, and how many bytes there are."""
        path = self.path(sha).with_suffix(".part")
        try:
            return path, path.stat().st_size
        except FileNotFoundError:
            return path, 0

    def finish(self, sha: str) -> None:
        """The part is the whole: it gets its name. Refused (422), and removed, if it is not."""
        if self.has(sha):
            self.partial(sha)[0].unlink(missing_ok=True)
            return
        path, _ = self.partial(sha)
        with _errors(path):
            if not path.is_file() or _digest(path) != sha:
                path.unlink(missing_ok=True)
                raise Refused(422, f"the content is not {sha}; send it again from the beginning")
            self._name(path, sha)

    def write(self, content: bytes | memoryview, sha: str | None = None) -> str:
        """Its digest, when it is durable; `sha` is the digest, if the caller knows it."""
        sha = sha or digest_of_content(content)
        self.write_pieces([content], sha)
        return sha

    def write_pieces(self, pieces: Sequence[bytes | memoryview], sha: str) -> None:
        """One after another, so that they need not be put together in memory; until durable."""
        if self.has(sha):
            return
        draft = self._folder / f"{sha}.{secrets.token_hex(4)}.draft"  # two may write the same
        with _errors(self.path(sha), needed=sum(map(len, pieces))):
            try:
                with draft.open("wb") as file:
                    for piece in pieces:
                        file.write(piece)
                self._name(draft, sha)
            finally:
                draft.unlink(missing_ok=True)

    def read(self, sha: str) -> bytes:
        """InputError if it is missing or has changed on the disk."""
        path = self.path(sha)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {reason(error)}") from None
        if digest_of_content(content) != sha:
            raise InputError(f"{path}: was changed after it was written; its digest differs")
        return content

    def is_whole(self, sha: str) -> bool:
        """Whether it is there, and as it was written."""
        path = self.path(sha)
        try:
            return path.is_file() and _digest(path) == sha
        except OSError:  # the disk cannot read it any more
            return False

    def mapped(self, sha: str) -> memoryview:
        """As it is on the disk now, unchecked, and not in memory. InputError if it is missing."""
        path = self.path(sha)
        try:
            with path.open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:  # it is not there, or empty
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise InputError(f"{path}: cannot be read: {why}") from None

    def remove_unless(self, keep: Collection[str]) -> None:
        """Remove all files and parts but those of these digests.

        Right after a commit, and not during a transfer: what no row names yet would go as well.
        """
        self.remove(self.names() - set(keep))

    def names(self) -> set[str]:
        """Digests of all files and parts."""
        with _errors(self._folder):
            found = (name.removesuffix(".part") for name in os.listdir(self._folder))
            return {name for name in found if _NAME.fullmatch(name)}

    def remove(self, names: Iterable[str]) -> None:
        """Those of these digests, and their parts."""
        with _errors(self._folder):
            for name in names:
                self.path(name).unlink(missing_ok=True)
                self.partial(name)[0].unlink(missing_ok=True)

    def _name(self, path: Path, sha: str) -> None:
        """Its bytes are durable first, then its name."""
        with _durably("file"), path.open("rb") as file:
            os.fsync(file.fileno())
        with _durably("rename"):
            os.replace(path, self.path(sha))
            _sync_folder(self._folder)


def digest_of_content(content: bytes | memoryview) -> str:
    """By which it is named."""
    return hashlib.sha256(content).hexdigest()


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Names in it are durable. Windows has no way to ask for it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
