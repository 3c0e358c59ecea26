"""How far a mission is flown, by what the autopilot says. No clock, no sockets.

MISSION_ITEM_REACHED comes once from ArduPilot, and may be lost; PX4 repeats it for seconds, when
the drone may be gone already. MISSION_CURRENT is repeated all the time, but comes later. Either of
them will do.
"""

from __future__ import annotations

from collections.abc import Sequence

from flexpress.field.flight_file import Hold


class Progress:
    """Items are counted from 0, without home."""

    def __init__(self, holds: Sequence[Hold]) -> None:
        self._hold_of = {number: hold for hold in holds for number in (hold.arrival, hold.item)}
        self.current: int | None = None  # the item that is being flown; None: not known yet
        self._arrived: Hold | None = None
        self._over: Hold | None = None

    @property
    def holding(self) -> Hold | None:
        """The client at which the drone is now."""
        hold = self._hold_of.get(-1 if self.current is None else self.current)
        if hold is None or hold == self._over:
            return None
        return hold if self.current == hold.item or hold == self._arrived else None

    def forget(self) -> None:
        """Another mission was loaded, or this one begins again."""
        self.current = self._arrived = self._over = None

    def now_flies(self, item: int) -> None:
        """MISSION_CURRENT."""
        if self.current is None or self._hold_of.get(item) != self._hold_of.get(self.current):
            self._arrived = self._over = None
        self.current = item

    def has_reached(self, item: int) -> None:
        """MISSION_ITEM_REACHED: this item is over, including its hold."""
        hold = self._hold_of.get(item)
        if hold is not None and item == hold.arrival:
            self._arrived = hold
        elif hold is not None:
            self._over = hold
