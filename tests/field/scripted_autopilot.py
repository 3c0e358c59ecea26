"""An autopilot on loopback that flies when a test tells it to, and loses packets by a schedule.

It speaks as ArduPilot or PX4 do, as far as their sources say: see docs/autopilot.md. Its
thread only answers and repeats; the flight itself goes on only by the methods below.
"""

from __future__ import annotations

import math
import random
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

WHY = "pymavlink is in the extra mavlink: pip install 'flexpress[mavlink]'"
common: Any = pytest.importorskip("pymavlink.dialects.v20.common", reason=WHY)

COURIER = (1, 191)
OTHERS = ((255, 190), (1, 192), (2, 191))  # a ground station, other companion computers
PATIENCE = 50  # repetitions without an answer; then a transfer is given up


@dataclass
class Losses:
    """Packets that do not arrive, or arrive twice: in both directions, by a seed or by name."""

    seed: int = 0
    dropped: float = 0.0
    repeated: float = 0.0
    first: Counter[str] = field(default_factory=Counter)  # "to" or "from" it: how many get lost

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def copies(self, way: str, kind: str) -> int:
        """How many of this packet arrive."""
        if self.first[f"{way} {kind}"]:
            self.first[f"{way} {kind}"] -= 1
            return 0
        if kind == "HEARTBEAT":
            return 1
        drawn = self._random.random()
        return 0 if drawn < self.dropped else 2 if drawn > 1 - self.repeated else 1


class ScriptedAutopilot:
    """Listens at `address`, or calls this port. What it has heard is in `heard`, by kind.

    It refuses a mission with the code `refuses`, at once or at `refused_item`. It may also answer
    others, on the same line.
    """

    def __init__(
        self,
        *,
        px4: bool = False,
        losses: Losses | None = None,
        calls: int | None = None,
        sender: tuple[int, int] = (1, 1),
        refuses: int = 0,
        refused_item: int | None = None,
        answers_others: bool = False,
    ) -> None:
        self.px4, self.losses = px4, losses or Losses()
        self._refuses, self._refused_item = refuses, refused_item
        self._answers_others = answers_others
        self.items: list[Any] = []
        self.current, self.is_armed, self.is_silent, self.is_stubborn = 0, False, False, False
        self.heard: Counter[str] = Counter()
        self.beats = self.uploads = 0
        self._offered: list[Any] | None = None
        self._asked = 0
        self._streams = px4
        self._reached: int | None = None
        self._busy = 0
        self._lock = threading.RLock()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.01)
        self.address = f"udpout://127.0.0.1:{self._socket.getsockname()[1]}"
        self._peer: Any = None if calls is None else ("127.0.0.1", calls)
        self._link = common.MAVLink(self, srcSystem=sender[0], srcComponent=sender[1])
        self._link.robust_parsing = True
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    # What a test tells it.

    def arm(self) -> None:
        """The pilot arms it, and it climbs: the take-off is done, the speed is set."""
        with self._lock:
            self.is_armed = True
            self._fly(2)

    def arrive(self, number: int) -> None:
        """At this item of the mission, counted without home."""
        with self._lock:
            self._fly(number)
            self._reach(number)
            self._fly(number + 1)

    def end_hold(self) -> None:
        """The time of the hold is up: on to the next item."""
        with self._lock:
            number = self.flown
            self._reach(number)
            self._fly(number + 1)

    def land(self) -> None:
        with self._lock:
            self.is_armed = False
            if not self.px4:
                self.current = 0

    def move(self, number: int) -> None:
        """Somebody else loads a mission in which this item, counted without home, is elsewhere."""
        with self._lock:
            self.items[number + self._home].x += 1000

    def shorten(self) -> None:
        """Somebody else loads a shorter mission."""
        with self._lock:
            self.items = self.items[:-1]

    @property
    def flown(self) -> int:
        """The item it flies now, counted without home."""
        return self.current - self._home

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    # What it does by itself.

    @property
    def _home(self) -> int:
        return 0 if self.px4 else 1

    def _fly(self, number: int) -> None:
        self.current, self._reached = number + self._home, None
        self._send_current()

    def _reach(self, number: int) -> None:
        """ArduPilot says it once, PX4 again and again."""
        self._reached = number + self._home
        self._send("mission_item_reached", self._reached)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                content, sender = self._socket.recvfrom(4096)
            except TimeoutError:
                content = b""
            except ConnectionError:
                continue
            with self._lock:
                if content:
                    self._peer = sender
                self._busy -= 0 if content else 1
                for message in self._link.parse_buffer(content) or ():
                    for _ in range(self._arriving(message)):
                        self._hear(message)
                if not content:
                    self._repeat()

    def _arriving(self, message: Any) -> int:
        kind = message.get_type()
        known = kind != "BAD_DATA" and (message.get_srcSystem(), message.get_srcComponent())
        return self.losses.copies("to", kind) if known == COURIER and not self.is_silent else 0

    def _repeat(self) -> None:
        """What it sends from time to time."""
        mode = 128 if self.is_armed else 0
        self.beats += 1
        self._send("heartbeat", 2, 12 if self.px4 else 3, mode, 0, 4)
        if self._streams:
            self._send_current()
        if self.px4 and self._reached is not None:
            self._send("mission_item_reached", self._reached)
        if self._offered is not None:
            self._request()

    def _send(self, kind: str, *fields: object) -> None:
        if not self.is_silent and self._peer is not None:
            for _ in range(self.losses.copies("from", kind.upper())):
                getattr(self._link, f"{kind}_send")(*fields)

    def write(self, content: bytes) -> None:
        with suppress(ConnectionError):  # nobody listens there yet
            self._socket.sendto(content, self._peer)

    def _send_current(self) -> None:
        total = len(self.items) - (self._home if self.items else 0)
        self._send("mission_current", self.current, total or 65535)

    def _hear(self, message: Any) -> None:
        self.heard[message.get_type()] += 1
        for other in OTHERS if self._answers_others else ():
            self._send("mission_ack", *other, common.MAV_MISSION_NO_SPACE, 0)
            self._send("mission_count", *other, 77, 0)
        handler = getattr(self, f"_on_{message.get_type().lower()}", None)
        if handler is not None:
            handler(message)

    def _acknowledge(self, code: int) -> None:
        self._send("mission_ack", *COURIER, code, 0)

    # A mission comes.

    def _on_mission_count(self, message: Any) -> None:
        if self._refuses and self._refused_item is None:
            self._acknowledge(self._refuses)
        elif self.px4 and self._offered:
            self._acknowledge(common.MAV_MISSION_ERROR)
        else:
            self._offered, self._size, self._asked = [], message.count, 0
            self._request()

    def _request(self) -> None:
        """Asked too often in vain, it gives up; an ArduPilot still asks in the old way."""
        assert self._offered is not None
        self._asked += 1
        if self._asked > PATIENCE:
            self._offered = None
            self._acknowledge(common.MAV_MISSION_OPERATION_CANCELLED)
            return
        kind = "mission_request_int" if self.px4 else "mission_request"
        self._send(kind, *COURIER, len(self._offered), 0)

    def _on_mission_item_int(self, message: Any) -> None:
        if self._offered is None or message.seq != len(self._offered):
            if not self.px4:
                self._acknowledge(common.MAV_MISSION_INVALID_SEQUENCE)
            return
        if message.seq == self._refused_item:
            self._offered = None
            self._acknowledge(self._refuses)
            return
        self._offered.append(self._kept(message))
        self._asked = 0
        if len(self._offered) < self._size:
            self._request()
        else:
            self.items, self._offered = self._offered, None
            self.uploads += 1
            self._acknowledge(common.MAV_MISSION_ACCEPTED)

    def _kept(self, message: Any) -> Any:
        """As it is stored: ArduPilot has its own home, whole seconds and centimetres."""
        if not self.px4:
            message.param1 = float(int(message.param1))
            message.z = round(message.z, 2)
            message.param4 = 0.0
            assert not math.isnan(message.param1)
            if message.seq == 0:
                message.x, message.y, message.z = 473000000, 85000000, 408.0
        return message

    # The mission is read.

    def _on_mission_request_list(self, message: Any) -> None:
        if self._offered is None:
            self._busy = PATIENCE
            self._send("mission_count", *COURIER, len(self.items), 0)
        elif not self.px4:
            self._acknowledge(common.MAV_MISSION_DENIED)

    def _on_mission_request_int(self, message: Any) -> None:
        item = self.items[message.seq]
        values = [getattr(item, name) for name in item.fieldnames]
        values[:2], values[2] = COURIER, message.seq
        frame = item.fieldnames.index("frame")
        values[frame] = 6 if self.px4 and values[frame] == 3 else values[frame]
        self._send("mission_item_int", *values)

    def _on_mission_ack(self, message: Any) -> None:
        self._busy = 0

    # It is told to go on.

    def _on_mission_set_current(self, message: Any) -> None:
        if self.px4 and self._busy <= 0:
            self._jump(message.seq)

    def _on_command_long(self, message: Any) -> None:
        self.heard[f"command {message.command}"] += 1
        if message.command == common.MAV_CMD_SET_MESSAGE_INTERVAL:
            self._streams = True
        elif message.command == common.MAV_CMD_DO_SET_MISSION_CURRENT and not self.px4:
            self._jump(max(1, int(message.param1)))

    def _jump(self, number: int) -> None:
        if number < len(self.items) and not self.is_stubborn:
            self._fly(number - self._home)


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def scripted(**options: Any) -> Iterator[ScriptedAutopilot]:
    autopilot = ScriptedAutopilot(**options)
    try:
        yield autopilot
    finally:
        autopilot.close()
