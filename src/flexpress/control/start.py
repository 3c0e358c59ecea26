"""From what the command names to a page in the browser."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from flexpress.arguments import nearest
from flexpress.control.folder import STATE
from flexpress.control.server import ControlServer
from flexpress.errors import InputError
from flexpress.field.kit import KIT
from flexpress.files.disk import PLAN, SCENARIO, read_text
from flexpress.files.lock import sole_use
from flexpress.scenario import preset_names, preset_text
from flexpress.simulation.stored_run import is_run

_OPERATOR = "operator"


@dataclass(frozen=True)
class Start:
    """The folder, and what is opened in it."""

    root: Path
    text: str | None = None  # of a scenario; None: the draft as it was left
    file: str = ""  # its name, if it can be saved there
    kit: Path | None = None


def find_start(name: str = "") -> Start:
    """A scenario's file, a preset, the folder of a plan or run, a kit; InputError otherwise."""
    path = Path(name or ".")
    if not name:
        return Start(path)
    if path.is_file() and path.name == PLAN:
        path = path.parent
    if path.is_file():
        return Start(path.parent, read_text(path), path.name)
    if path.is_dir():
        return _start_in(path)
    names = preset_names()
    if name in names:
        return Start(Path(), preset_text(name))
    raise InputError(
        f"{name}: no such file or folder, and no preset of that name{nearest(name, names)}; "
        f"the presets are {', '.join(names)}"
    )


def _start_in(folder: Path) -> Start:
    """A kit, or the folder of a plan or runs; any other folder is one to work in."""
    if (folder / KIT).is_file():
        kit = folder if folder.name == _OPERATOR else folder.parent / _OPERATOR
        if not (kit / KIT).is_file():
            raise InputError(
                f"{kit}: no such kit; watching needs the operator's kit beside this one"
            )
        return Start(folder.parent, kit=kit)
    if (folder / SCENARIO).is_file() and ((folder / PLAN).is_file() or is_run(folder)):
        return Start(folder, read_text(folder / SCENARIO))
    return Start(folder)


def run_control(
    name: str = "",
    *,
    port: int = 0,
    tiles: str = "",
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the page until Ctrl-C; `on_ready` is called with the address to open."""
    if tiles and not tiles.startswith(("http://", "https://")):
        raise InputError(
            f"tiles = {tiles}: must be an address such as https://host/{{z}}/{{x}}/{{y}}.png"
        )
    start = find_start(name)
    with _alone(start.root / STATE):
        asyncio.run(_serve(start, port, tiles, on_ready))


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """InputError if mission control already runs on this folder: one draft would be lost."""
    with ExitStack() as stack:
        try:
            stack.enter_context(sole_use(state))
        except InputError as error:
            if "another run" not in str(error):
                raise
            where = state.resolve().parent
            raise InputError(f"{where}: mission control runs there already; use its page") from None
        yield


async def _serve(start: Start, port: int, tiles: str, on_ready: Callable[[str], None]) -> None:
    server = ControlServer(start.root, start.kit, tiles)
    if start.text is not None and start.text != server.plan.draft.text:
        server.plan.draft.opened(start.file, start.text)
    server.open_port(port)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    await server.serve(on_ready)
