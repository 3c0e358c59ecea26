"""FedEx slot by slot, as the paper's sections "FedEx-Sync" and "FedEx-Async" tell it.

The slow loop that the simulator is judged by: every slot is gone through, every client does its one
step of SGD, whether anybody will ever ask for it or not. Moments are counted in slots from the
first departure; with the exact clock they are fractions, without any rounding.

Two things are not in the paper. With a head start, a client that hands over m_i and is handed x
starts from x - gamma m_i, and its next m_i is counted from there. Clients that are `preloaded` hold
x^0 from slot 0 on, before anybody visits them, and train from slot 0. An ideal link has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from timetable import Moment, Timetable

from flexpress.learning import Vector

Gradient = Callable[[int | str, Vector, int], Vector]
"""g_i^s: client, its local model, and how many local steps it has done before."""


@dataclass(frozen=True, eq=False)
class Upload:
    """m_i as a client hands it over, and for the books: what it was trained from, and when."""

    client: int | str
    start: Vector
    version: int
    first_step: int
    num_steps: int
    m: Vector


@dataclass(frozen=True, eq=False)
class Meeting:
    """For the books: when a transporter met a client, and the versions of the models involved."""

    moment: Moment
    client: int | str
    version: int  # of the model that is handed over
    server_version: int  # of the model that the server has by now
    upload: Upload | None


@dataclass(eq=False)
class Client:
    """Client i: its local model x_i, and the updates m_i (CLU) since it last met somebody."""

    id: int | str
    gamma: float = 0.0
    start: Vector | None = None  # what m_i is counted from
    version: int = 0
    x: Vector = field(default_factory=lambda: np.zeros(0))
    m: Vector = field(default_factory=lambda: np.zeros(0))
    steps_before: int = 0
    steps: int = 0

    def upload(self) -> Upload | None:
        """The CLU since the last meeting; a client that never had a model has nothing to give."""
        if self.start is None:
            return None
        num_steps = self.steps - self.steps_before
        return Upload(self.id, self.start, self.version, self.steps_before, num_steps, self.m)

    def download(self, model: Vector, version: int) -> None:
        """Start from the model, less gamma times the m_i that was handed over for it."""
        self.start = model.copy() if self.start is None else model - self.gamma * self.m
        self.x, self.m = self.start.copy(), np.zeros_like(model)
        self.version, self.steps_before = version, self.steps

    def step(self, gradient: Gradient, eta: float) -> None:
        """x_i^{s+1} = x_i^s - eta g_i^s, and eta g_i^s is added to m_i."""
        if self.start is not None:
            g = gradient(self.id, self.x, self.steps)
            self.x = self.x - eta * g
            self.m = self.m + eta * g
            self.steps += 1


@dataclass(eq=False)
class Server:
    """x, N, and for the books all that was received: moment and upload.

    With `by_landed` it divides by the number of clients whose updates landed, against Eq. (14).
    """

    x: Vector
    num_clients: int
    by_landed: bool = False
    version: int = 0  # how often something has been received
    received: list[tuple[Moment, Upload]] = field(default_factory=list)

    def aggregate(self, now: Moment, uploads: Sequence[Upload], total: Vector) -> None:
        """x^t = x^{t-1} - (1/N) sum of u_k, over all that came back at this moment."""
        number = len(uploads) if self.by_landed and uploads else self.num_clients
        self.x = self.x - total / number
        self.version += bool(uploads)
        self.received += [(now, upload) for upload in uploads]


@dataclass(eq=False)
class Transporter:
    """Transporter k on its tours: the global model it carries, the aggregated CLU u_k."""

    visits: tuple[tuple[Moment, Client], ...]  # moments after departure, in visiting order
    period: Moment  # from one departure to the next: Delta_k, or Delta of FedEx-Sync
    x: Vector
    u: Vector
    version: int = 0
    departed: Moment = 0
    num_visited: int = 0
    uploads: list[Upload] = field(default_factory=list)

    def depart(self, now: Moment, server: Server) -> None:
        self.x, self.u, self.version = server.x.copy(), np.zeros_like(server.x), server.version
        self.departed, self.num_visited, self.uploads = now, 0, []

    def next_moment(self) -> Moment:
        """Of the next visit of this tour; after the last one, of the return."""
        if self.num_visited < len(self.visits):
            return self.departed + self.visits[self.num_visited][0]
        return self.departed + self.period

    def visit(self, now: Moment) -> Iterator[tuple[Client, Upload | None]]:
        """Everyone whom it meets now: the CLU is taken, u_k = u_k + m_i, and x handed over."""
        while self.num_visited < len(self.visits) and self.next_moment() == now:
            client = self.visits[self.num_visited][1]
            upload = client.upload()
            if upload is not None:
                self.u = self.u + upload.m
                self.uploads.append(upload)
            client.download(self.x, self.version)
            self.num_visited += 1
            yield client, upload

    def is_due(self, now: Moment) -> bool:
        """Back at the server, for the others are back too, and about to leave again."""
        return self.departed + self.period == now


class LiteralLoop:
    """Both algorithms; `models` yields x^0, x^1, ..., x^horizon."""

    def __init__(
        self,
        fleet: Sequence[Timetable],
        x: Vector,
        gradient: Gradient,
        eta: float,
        *,
        sync: bool,
        gamma: float = 0.0,
        preloaded: bool = False,
    ) -> None:
        self.gradient, self.eta = gradient, eta
        self.meetings: list[Meeting] = []
        self.clients = {i: Client(i, gamma) for times in fleet for i in times.clients}
        if preloaded:
            for client in self.clients.values():
                client.download(x, 0)
        self.server = Server(x.copy(), len(self.clients))
        delta = max(times.round_trip for times in fleet)
        self.transporters = [
            Transporter(
                tuple((o, self.clients[i]) for i, o in times.visits()),
                delta if sync else times.round_trip,
                x,
                np.zeros_like(x),
            )
            for times in fleet
        ]

    def models(self, horizon: int) -> Iterator[Vector]:
        for transporter in self.transporters:
            transporter.depart(0, self.server)
        for t in range(horizon + 1):
            self.happens(t)
            yield self.server.x
            for now in self.moments_within(t):
                self.happens(now)
            for client in self.clients.values():
                client.step(self.gradient, self.eta)

    def happens(self, now: Moment) -> None:
        """Landings, departures with the new model, visits.

        Only a last visit that takes no time at all, neither to hover nor to fly home, comes before
        the landing of its transporter.
        """
        landed = [k for k in self.transporters if k.is_due(now)]
        self.visit(landed, now)
        if landed:
            uploads = [upload for k in landed for upload in k.uploads]
            self.server.aggregate(now, uploads, np.sum([k.u for k in landed], axis=0))
        for transporter in landed:
            transporter.depart(now, self.server)
        self.visit(self.transporters, now)

    def visit(self, transporters: Sequence[Transporter], now: Moment) -> None:
        for k in transporters:
            self.meetings += [
                Meeting(now, client.id, k.version, self.server.version, upload)
                for client, upload in k.visit(now)
            ]

    def moments_within(self, t: int) -> Iterator[Fraction]:
        """Between slots t and t + 1, both left out: with the clock in slots there are none."""
        while (now := min(k.next_moment() for k in self.transporters)) < t + 1:
            yield Fraction(now)


class LiteralDirect(LiteralLoop):
    """An ideal link: every Delta all clients upload, the server averages, all download, at once."""

    due: Moment = 0

    def models(self, horizon: int) -> Iterator[Vector]:
        for t in range(horizon + 1):
            if self.due == t:
                self.exchange()
            yield self.server.x
            while self.due < t + 1:
                self.exchange()
            for client in self.clients.values():
                client.step(self.gradient, self.eta)

    def exchange(self) -> None:
        uploads = [upload for client in self.clients.values() if (upload := client.upload())]
        total = sum((upload.m for upload in uploads), np.zeros_like(self.server.x))
        self.server.aggregate(self.due, uploads, total)
        for client in self.clients.values():
            client.download(self.server.x, self.server.version)
        self.due += max(k.period for k in self.transporters)
