"""The process is killed at each durable step, and opened again: whole transactions, whole files."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_run import environment

from flexpress.field.desk import CLIENT_ROWS, COMING, ComingRow
from flexpress.field.store import Files, Store

STEPS = ("creation", "file", "rename", "commit")
NUM_UPDATES = 4
CONTENTS = [bytes([number]) * 100_000 for number in range(NUM_UPDATES)]
DIGESTS = [hashlib.sha256(content).hexdigest() for content in CONTENTS]

PROGRAM = """
import os, signal, sys
from pathlib import Path

from flexpress.field import store as module
from flexpress.field.desk import CLIENT_ROWS, COMING, ComingRow
from flexpress.field.store import Files, Store

DIGESTS = sys.argv[2].split(",")

def work(folder, fatal, told):
    reached = 0

    def step(name):
        nonlocal reached
        reached += 1
        if reached == fatal:
            os.write(told, b" died " + name.replace(" ", "-").encode())
            os.kill(os.getpid(), signal.SIGKILL)

    write = Store._write

    def write_and_step(self, change):
        write(self, change)
        step("between rows")

    module.durable, Store._write = step, write_and_step
    with Store.open(folder, CLIENT_ROWS) as store:
        files = Files(folder / "vectors")
        for number, sha in enumerate(DIGESTS):
            content = bytes([number]) * 100_000
            if number % 2:
                files.write(content)
            else:
                path, offset = files.partial(sha)
                with path.open("ab") as file:
                    file.write(content[offset:])
                files.finish(sha)
            before = [COMING.delete(str(number - 1))] if number else []
            store.commit([*before, COMING.put(str(number), ComingRow(sha)),
                          COMING.put("last", ComingRow(sha))])
            os.write(told, b" %d" % number)

for fatal in range(1, 1000):  # the last one is never reached
    folder = Path(sys.argv[1]) / str(fatal)
    reading, telling = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(folder, fatal, telling)
        finally:
            os._exit(0)
    os.close(telling)
    with open(reading) as pipe:
        told = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(fatal, code, told.strip(), flush=True)
    if code == 0:
        break
"""


@dataclass(frozen=True)
class Death:
    folder: Path
    code: int
    step: str
    committed: int  # so many transactions had been answered


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Death, ...]:
    folder = tmp_path_factory.mktemp("deaths")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), ",".join(DIGESTS)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=600,
        check=True,
    )
    found = []
    for line in ran.stdout.splitlines():
        fatal, code, *words = line.split()
        step = words[words.index("died") + 1] if "died" in words else "none"
        committed = len([word for word in words if word.isdigit()])
        found.append(Death(folder / fatal, int(code), step, committed))
    return tuple(found)


def test_it_died_at_every_step(deaths: tuple[Death, ...]) -> None:
    *killed, last = deaths
    assert (last.code, last.committed) == (0, NUM_UPDATES)
    assert all(death.code == -signal.SIGKILL for death in killed)
    assert {death.step for death in killed} == {
        *(f"{when}-{what}" for when in ("before", "after") for what in STEPS),
        "between-rows",
    }


def test_the_whole_transaction_or_nothing(deaths: tuple[Death, ...]) -> None:
    for death in deaths:
        done = death.committed + (death.step == "after-commit")
        with Store.open(death.folder, CLIENT_ROWS) as store:
            rows = {key: row.model for key, row in COMING.rows(store.tables).items()}
        latest = DIGESTS[done - 1]
        assert rows == ({str(done - 1): latest, "last": latest} if done else {}), death


def test_files_are_whole_or_absent(deaths: tuple[Death, ...]) -> None:
    for death in deaths:
        files = Files(death.folder / "vectors")
        for number, (sha, content) in enumerate(zip(DIGESTS, CONTENTS, strict=True)):
            if files.has(sha):
                assert files.read(sha) == content, death
            assert files.has(sha) or number >= death.committed, death
        names = {path.name for path in (death.folder / "vectors").iterdir()}
        assert names <= {*DIGESTS, *(f"{sha}.part" for sha in DIGESTS)}, death


def test_it_can_go_on(deaths: tuple[Death, ...]) -> None:
    for death in deaths:
        with Store.open(death.folder, CLIENT_ROWS) as store:
            store.commit([COMING.put("again", ComingRow(DIGESTS[0]))])
        with Store.open(death.folder, CLIENT_ROWS) as store:
            assert "again" in COMING.rows(store.tables)
        files = Files(death.folder / "vectors")
        for sha, content in zip(DIGESTS, CONTENTS, strict=True):
            assert files.write(content) == sha
            assert files.read(sha) == content
