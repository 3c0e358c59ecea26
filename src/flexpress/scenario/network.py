"""The `[network]` section: where the server and the clients are, listed or generated."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from flexpress.scenario.quantities import Area, ClientId, Grid, Position, WholeNumber
from flexpress.scenario.section import KeyedError, Section, check_form, present

LISTED = ("clients",)
GENERATED = ("area", "blocks", "clients_per_block")
MOST_CLIENTS = 1_000_000

Block = tuple[float, float, float, float]
"""x0, y0, x1, y1 in metres: the south-west and north-east corners."""


class Network(Section):
    """Clients either listed by position, or drawn at random in the blocks of an area."""

    server: Position | None = Field(default=None, description="[x, y] in metres")
    clients: tuple[Position, ...] | None = Field(
        default=None,
        description='a list of [x, y] in metres, or the name of a CSV file "sensors.csv"',
    )
    ids: tuple[ClientId, ...] | None = Field(default=None, description="one id per client")
    area: Area | None = Field(default=None, description="[width, height] in metres")
    blocks: Grid | None = Field(default=None, description="[columns, rows]")
    clients_per_block: WholeNumber | None = Field(
        default=None, ge=1, description="one number for all"
    )

    @field_validator("ids")
    @classmethod
    def _check_unique(cls, ids: tuple[int | str, ...] | None) -> tuple[int | str, ...] | None:
        seen: dict[str, int] = {}
        for i, client_id in enumerate(ids or ()):
            first = seen.setdefault(str(client_id), i)
            if first != i:
                raise ValueError(f"id {client_id} stands at [{first}] and [{i}]: each id once")
        return ids

    @model_validator(mode="after")
    def _check(self) -> Self:
        form = check_form(self, (LISTED, GENERATED))
        if form == LISTED and self.server is None:
            raise KeyedError("server", "is missing: give [x, y] in metres")
        if self.ids is not None and form == GENERATED:
            raise KeyedError("ids", "only with listed clients: generated ones are 1, 2, 3, ...")
        if self.ids is not None and len(self.ids) != self.num_clients:
            raise KeyedError("ids", f"{len(self.ids)} ids for {self.num_clients} clients")
        if not 1 <= self.num_clients <= MOST_CLIENTS:
            key = "clients" if form == LISTED else "clients_per_block"
            text = f"gives {self.num_clients} clients: must be 1 to {MOST_CLIENTS}"
            raise KeyedError(key, text)
        return self

    @property
    def num_clients(self) -> int:
        if self.clients is not None:
            return len(self.clients)
        columns, rows = present(self.blocks)
        return columns * rows * present(self.clients_per_block)

    def client_ids(self) -> tuple[int | str, ...]:
        return self.ids or tuple(range(1, self.num_clients + 1))

    def positions(self, seed: int) -> NDArray[np.float64]:
        """Server first, then the clients; (nodes, 2) in metres. The seed is for generated ones."""
        clients = np.array(self.clients) if self.clients is not None else self._draw(seed)
        return np.vstack([np.array([self._server_position()]), clients]).astype(np.float64)

    def block_corners(self) -> list[Block]:
        """Rows south to north, in each the columns west to east; empty if not generated."""
        if self.blocks is None:
            return []
        (columns, rows), (width, height) = self.blocks, self._block_size()
        return [
            (width * column, height * row, width * (column + 1), height * (row + 1))
            for row in range(rows)
            for column in range(columns)
        ]

    def _server_position(self) -> tuple[float, float]:
        if self.server is not None:
            return self.server
        width, height = present(self.area)
        return width / 2, height / 2

    def _block_size(self) -> tuple[float, float]:
        (width, height), (columns, rows) = present(self.area), present(self.blocks)
        return width / columns, height / rows

    def _draw(self, seed: int) -> NDArray[np.float64]:
        """Uniform in each block: u = rng.random((n, 2)), block after block as `block_corners`."""
        columns, rows = present(self.blocks)
        corners = np.array([(column, row) for row in range(rows) for column in range(columns)])
        u = np.random.default_rng(seed).random((len(corners), present(self.clients_per_block), 2))
        in_blocks = corners[:, None, :] + u  # (blocks, clients, 2), in units of a block
        return np.reshape(in_blocks * np.array(self._block_size()), (-1, 2))
