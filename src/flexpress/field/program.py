"""What all programs of the field share: they run until they are done or asked to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress


def run_program(work: Callable[[], Awaitable[None]]) -> None:
    """Until it is done; Ctrl-C, SIGTERM and SIGHUP end it in good order.

    They are not errors: all that counts is stored already, and the next start goes on from there.
    """
    asyncio.run(_until_asked(work))


async def _until_asked(work: Callable[[], Awaitable[None]]) -> None:
    task = asyncio.ensure_future(work())
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError, ValueError, RuntimeError):  # Windows; not main
                loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task
