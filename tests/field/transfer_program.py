"""One end of a transfer, as a program: the port, or the caller, which starts the port.

caller FOLDER SEED: fetch the content from the port and push it back under a link that breaks, and
print as JSON how much memory each end took beyond what it had at the start, in bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from links import HURRIED, Link, calls, port_of, seeded

from flexpress.field.store import Files
from flexpress.field.transfer import fetch, push


def resident(key: str) -> int:
    """Bytes: VmRSS is now, VmHWM the most so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise AssertionError(key)


def sha_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def answer(folder: Path) -> None:
    """Until a line arrives; first the port is printed, at the end the memory."""
    files = Files(folder / "port")
    size = (folder / "content").stat().st_size
    async with port_of(folder / "kits", files, size) as port:
        print(port, flush=True)  # noqa: T201  # to the caller
        before = resident("VmRSS")
        await asyncio.to_thread(sys.stdin.readline)
        print(resident("VmHWM") - before, flush=True)  # noqa: T201  # to the caller


async def call(folder: Path, seed: int) -> dict[str, dict[str, float]]:
    content = folder / "content"
    size, sha, pushed = content.stat().st_size, sha_of(content), folder / "pushed"
    offered = Files(folder / "port").path(sha)
    shutil.copyfile(content, offered)
    near = Files(folder / "near")
    command = [sys.executable, __file__, "port", str(folder)]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdin is not None
    assert program.stdout is not None
    try:
        link = Link(int(program.stdout.readline()), seeded(seed, size // 80, size // 20), rate=2e7)
        before = resident("VmRSS")
        async with link.up() as port, calls(folder / "kits") as session:
            url = f"https://server:{port}/files/{sha}"
            await fetch(session, url, sha, size, near, patience=HURRIED)
            offered.rename(pushed)  # it has it no longer
            await push(session, url, near.path(sha), patience=HURRIED)
        grown = resident("VmHWM") - before
        program.stdin.write("\n")
        program.stdin.flush()
        port_grown = int(program.stdout.readline())
    finally:
        program.communicate(timeout=120)
    assert sha_of(near.path(sha)) == sha_of(offered) == sha
    return {
        "caller": {"grown": grown},  # the link included
        "port": {"grown": port_grown},
        "link": {"connections": link.connections, "carried": link.carried},
    }


if __name__ == "__main__":
    if sys.argv[1] == "port":
        asyncio.run(answer(Path(sys.argv[2])))
    else:
        result = asyncio.run(call(Path(sys.argv[2]), int(sys.argv[3])))
        print(json.dumps(result))  # noqa: T201  # to the test
