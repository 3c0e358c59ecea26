"""Three networks on this machine: that of the server, of the courier, and of the clients.

Wires lead from the courier to the others; the others have no route to each other. A wire can be
taken down, lose packets, or be slow.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from small_run import environment

PREFIX = "flexpress-test"
ROLES = ("server", "courier", "clients")
HOSTS = {"server": "10.77.1.2", "clients": "10.77.2.2"}
"""Where the courier finds them."""
OWN = {"server": "10.77.1.1", "clients": "10.77.2.1"}
"""Its own addresses on the wires to them."""

_NETWORK = 0x40000000  # CLONE_NEWNET


def command(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def ip(*words: str) -> str:
    return command("ip", *words)


@dataclass(frozen=True)
class Networks:
    """Names of the namespaces, by role."""

    names: dict[str, str]

    def inside(self, role: str, *words: str) -> str:
        return command("ip", "netns", "exec", self.names[role], *words)

    def wire(self, end: str, own: str | None = None) -> None:
        """From the courier to this end, and up. Its own address may be another one."""
        courier, other = self.names["courier"], self.names[end]
        near, far = f"to-{end}", "to-courier"
        ip("-n", courier, "link", "add", near, "type", "veth", "peer", "name", far, "netns", other)
        for name, place, address in ((near, courier, own or OWN[end]), (far, other, HOSTS[end])):
            ip("-n", place, "address", "add", f"{address}/24", "dev", name)
            ip("-n", place, "link", "set", name, "up")

    def cut(self, end: str) -> None:
        """The wire is gone, with all that is on its way."""
        ip("-n", self.names["courier"], "link", "delete", f"to-{end}")

    def set_link(self, end: str, state: str) -> None:
        ip("-n", self.names["courier"], "link", "set", f"to-{end}", state)

    def ends(self, end: str) -> list[tuple[str, str]]:
        """Roles and names of devices of this wire."""
        return [("courier", f"to-{end}"), (end, "to-courier")]

    def slow_down(self, end: str, rate: str) -> None:
        """Skips if this machine cannot."""
        for role, device in self.ends(end):
            qdisc = ["tc", "qdisc", "add", "dev", device, "root"]
            tries = [
                [*qdisc, "tbf", "rate", rate, "burst", "4kb", "latency", "500ms"],
                [*qdisc, "netem", "rate", rate],
            ]
            self._first_of(role, tries, "links cannot be slowed down here: neither tbf nor netem")

    def lose(self, percent: int) -> None:
        """So many of a hundred packets, each way on each wire; skips if this machine cannot."""
        for end in HOSTS:
            for role, device in self.ends(end):
                self._lose_at(role, device, percent)

    def sent_again(self, role: str) -> int:
        """TCP segments that were lost on their way from there."""
        lines = self.inside(role, "cat", "/proc/net/snmp").splitlines()
        names, numbers = (line.split() for line in lines if line.startswith("Tcp:"))
        return int(dict(zip(names, numbers, strict=True))["RetransSegs"])

    def _lose_at(self, role: str, device: str, percent: int) -> None:
        """Netem loses what is sent; without it, a filter drops what is received."""
        rule = f'iifname "{device}" numgen random mod 100 < {percent} drop'
        hook = "type filter hook input priority 0"
        ruleset = f"table ip loss-{device} {{ chain input {{ {hook} ; {rule} ; }} }}"
        chance = ["-m", "statistic", "--mode", "random", "--probability", str(percent / 100)]
        tries = [
            ["tc", "qdisc", "add", "dev", device, "root", "netem", "loss", f"{percent}%"],
            ["nft", ruleset],
            ["iptables", "-A", "INPUT", "-i", device, *chance, "-j", "DROP"],
        ]
        reason = "packets cannot be lost here: neither netem nor nftables nor iptables"
        self._first_of(role, tries, reason)

    def _first_of(self, role: str, tries: list[list[str]], reason: str) -> None:
        for words in tries:
            if shutil.which(words[0]):
                with suppress(OSError):
                    self.inside(role, *words)
                    return
        pytest.skip(reason)


@contextmanager
def three_networks() -> Iterator[Networks]:
    """Skips where they may not be made. Nothing is left of them, whatever happens."""
    _skip_unless_possible()
    _remove_what_was_left()
    with ExitStack() as stack:
        names = {role: f"{PREFIX}-{os.getpid()}-{role}" for role in ROLES}
        for name in names.values():
            try:
                ip("netns", "add", name)
            except OSError as error:
                pytest.skip(f"network namespaces cannot be made: {error}")
            stack.callback(ip, "netns", "delete", name)
            ip("-n", name, "link", "set", "lo", "up")
        yield Networks(names)


def _skip_unless_possible() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("network namespaces need Linux")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need the command ip, of iproute2")


def _remove_what_was_left() -> None:
    """By tests that were killed: their processes are gone."""
    for name, number in re.findall(rf"^({PREFIX}-(\d+)-\w+)", ip("netns", "list"), re.MULTILINE):
        if not Path("/proc", number).exists():
            ip("netns", "delete", name)


def inside(network: str, run: Callable[..., None]) -> Callable[..., None]:
    """The same program, for a thread of its own: all that it opens is in this network."""

    def run_there(*arguments: Any, **options: Any) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{network}") as place:
            if library.setns(place.fileno(), _NETWORK):
                raise OSError(ctypes.get_errno(), "setns")
        run(*arguments, **options)

    return run_there


@dataclass
class Process:
    """A program as a process in a network, and what it has said."""

    process: subprocess.Popen[str]
    entries: list[dict[str, Any]] = field(default_factory=list)

    def listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.entries.append(json.loads(line) if line.startswith("{") else {"event": line})

    def said(self, event: str, **details: object) -> list[dict[str, Any]]:
        wanted = {"event": event, **details}.items()
        return [entry for entry in self.entries if wanted <= entry.items()]

    def has_started(self) -> bool:
        assert self.process.poll() is None, self.entries
        return bool(self.said("started"))


@contextmanager
def process_inside(network: str, role: str, folder: Path) -> Iterator[Process]:
    """`flexpress server`, `courier` or `client`, until the end of the block."""
    words = ["ip", "netns", "exec", network, sys.executable, "-m", "flexpress", role, str(folder)]
    with subprocess.Popen(
        [*words, "--json"], stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        program = Process(process)
        listening = threading.Thread(target=program.listen)
        listening.start()
        try:
            yield program
        finally:
            process.terminate()
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
            listening.join(600)
