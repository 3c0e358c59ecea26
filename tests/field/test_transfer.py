"""Files over links that break at any byte: they arrive whole, and nothing is sent in vain."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from links import calls, make_kits, port_of

from flexpress.field.store import Files
from flexpress.field.transfer import fetch, push


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_kits(tmp_path_factory.mktemp("kits"))


def content(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


class Ends:
    """Files at both ends; the far one is the program's."""

    def __init__(self, folder: Path) -> None:
        self.near, self.far = Files(folder / "near"), Files(folder / "far")


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    return Ends(tmp_path)


@pytest.mark.parametrize("size", [1, 2**16, 2**18, 2**18 + 1, 1_000_000])
def test_there_and_back(kits: Path, ends: Ends, size: int) -> None:
    data = content(size)
    sha = ends.far.write(data)
    elsewhere = Files(ends.far.path(sha).parent / "elsewhere")

    async def run() -> None:
        async with calls(kits) as session:
            async with port_of(kits, ends.far, size) as port:
                await fetch(session, f"https://server:{port}/files/{sha}", sha, size, ends.near)
            async with port_of(kits, elsewhere, size) as port:
                url = f"https://server:{port}/files/{sha}"
                await push(session, url, ends.near.path(sha))

    asyncio.run(run())
    assert ends.near.read(sha) == elsewhere.read(sha) == data
