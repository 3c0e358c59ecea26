"""Where server and clients are: generated as the design says, or listed."""

from __future__ import annotations

import numpy as np
import pytest

from flexpress.scenario import Scenario


def test_the_papers_network_is_drawn_block_by_block() -> None:
    """Blocks of 400 m x 1000 m: rows south to north outside, columns west to east inside."""
    rng = np.random.default_rng(7)
    expected = [[1000.0, 1000.0]]
    for row in range(2):
        for column in range(5):
            u = rng.random((4, 2))
            for i in range(4):
                expected.append([400 * (column + u[i, 0]), 1000 * (row + u[i, 1])])
    scenario = Scenario.preset("paper", seed=7)
    assert scenario.positions.tolist() == expected  # bit for bit
    assert scenario.client_ids == tuple(range(1, 41))
    assert scenario.num_clients == 40


def test_every_client_lies_in_its_block() -> None:
    scenario = Scenario.preset("paper")
    for i, (x, y) in enumerate(scenario.positions[1:]):
        x0, y0, x1, y1 = scenario.blocks[i // 4]
        assert x0 <= x < x1
        assert y0 <= y < y1


def test_blocks_for_the_map() -> None:
    blocks = Scenario.preset("paper").blocks
    assert len(blocks) == 10
    assert blocks[0] == (0.0, 0.0, 400.0, 1000.0)
    assert blocks[6] == (400.0, 1000.0, 800.0, 2000.0)
    assert Scenario.preset("four").blocks == []


def test_another_seed_draws_other_positions() -> None:
    first, second = (Scenario.preset("paper", seed=seed).positions for seed in (0, 1))
    assert not np.array_equal(first[1:], second[1:])


def test_a_generated_network_may_place_its_server() -> None:
    scenario = Scenario.preset("paper")
    moved = scenario.replace(network={"server": [0, "1 km"]})
    assert moved.positions[0].tolist() == [0.0, 1000.0]
    assert np.array_equal(moved.positions[1:], scenario.positions[1:])


def test_listed_positions_stand_server_first() -> None:
    scenario = Scenario.preset("four")
    assert scenario.positions.tolist() == [[0, 0], [3, 0], [3, 4], [-3, 0], [-3, -4]]
    assert scenario.positions.dtype == np.float64


def test_positions_are_computed_once_and_read_only() -> None:
    positions = Scenario.preset("paper").positions
    with pytest.raises(ValueError, match="read-only"):
        positions[0, 0] = 1.0
    scenario = Scenario.preset("four")
    assert scenario.positions is scenario.positions


def test_clients_may_share_a_place_with_each_other_and_the_server() -> None:
    network = {"server": [1, 1], "clients": [[1, 1], [1, 1]]}
    scenario = Scenario.from_dict(
        {"network": network, "fleet": {"speeds": [1]}, "link": {"transfer_time": 0}}
    )
    assert scenario.positions.tolist() == [[1, 1]] * 3
