"""The Field tab's other half: watches a mission's server, and decides what is asked twice."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import Any

import msgspec

from flexpress.control import messages
from flexpress.control.topics import Topics
from flexpress.errors import FlexpressError, InputError
from flexpress.field import Status, operate, status_to_json

_PAUSE = 0.5
"""Seconds from one question to the next."""

_EFFECTS = {
    "void": "What {what} carries is given up; it comes home with later tours.",
    "revoke": "{what} is refused from now on, and cannot come back with this kit.",
}


class FieldDesk:
    """Of one mission; without a kit it says how to attach one."""

    def __init__(self, kit: Path | None, topics: Topics) -> None:
        self._kit, self._topics = kit, topics
        self._shown: dict[str, Any] = {"attached": kit is not None, "curve": []}
        self._pending: tuple[str, str, str] | None = None  # code, action, what

    def publish(self) -> None:
        self._topics.publish("field", self._shown)

    async def watch(self) -> None:
        """For ever."""
        while self._kit is not None:
            await self._ask()
            await asyncio.sleep(_PAUSE)

    async def _ask(self) -> None:
        assert self._kit is not None
        try:
            status = await asyncio.to_thread(operate, self._kit, "status")
        except FlexpressError as error:
            self._show(connected=False, fault=str(error))
            return
        assert isinstance(status, Status)
        curve = self._shown["curve"]
        point = [status.slot, status.accuracy]
        if status.accuracy is not None and (not curve or curve[-1] != point):
            curve = [*curve, point]
        shown = msgspec.json.decode(status_to_json(status))
        self._show(connected=True, fault="", status=shown, curve=curve)

    def _show(self, **changes: Any) -> None:
        self._shown = {**self._shown, **changes}
        self.publish()

    def perform(self, wish: messages.Command) -> None:
        """The first request is only written down; the second, with its code, is carried out."""
        match wish:
            case messages.Decide(action, what):
                self._ask_again(action, what)
            case messages.Confirm(code):
                self._decide(code)
            case messages.Withdraw():
                self._pending = None
                self._show(pending=None)

    def _ask_again(self, action: str, what: str) -> None:
        if self._kit is None:
            raise InputError("no mission is attached: flexpress control KITS/operator")
        self._pending = secrets.token_urlsafe(16), action, what
        text = _EFFECTS[action].format(what=what)
        pending = {"code": self._pending[0], "action": action, "what": what, "text": text}
        self._show(pending=pending, done="")

    def _decide(self, code: str) -> None:
        if self._pending is None or not secrets.compare_digest(code, self._pending[0]):
            raise InputError("nothing is waiting to be confirmed; ask for it again")
        _, action, what = self._pending
        self._pending = None
        self._show(pending=None)
        self._work = asyncio.create_task(self._carry_out(action, what))

    async def _carry_out(self, action: str, what: str) -> None:
        assert self._kit is not None
        try:
            answer = await asyncio.to_thread(operate, self._kit, action, what)
            self._show(done=getattr(answer, "text", ""))
        except FlexpressError as error:
            self._show(done=str(error))
        await self._ask()
