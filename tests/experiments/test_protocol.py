"""The protocol: a file in the package, read as it stands."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

from flexpress.experiments import protocol as module
from flexpress.experiments.figures import FIGURES
from flexpress.experiments.protocol import as_flown, as_paper, protocol, seeds_of
from flexpress.experiments.reproduce import _settings_of
from flexpress.experiments.sweeps import sweeps_of

FILE = Path(module.__file__).with_name("protocol.toml")


def test_it_is_the_file_in_the_package() -> None:
    assert protocol().text == FILE.read_text(encoding="utf-8")
    assert protocol().digest == hashlib.sha256(FILE.read_bytes()).hexdigest()


def test_every_number_of_the_file_is_read() -> None:
    document = tomllib.loads(protocol().text)
    for name in ("full", "single", "quick"):
        scale = getattr(protocol(), name)
        assert scale.name == name
        for key, value in document[name].items():
            assert getattr(scale, key) == (tuple(value) if isinstance(value, list) else value)
    for key, value in document["judging"].items():
        assert getattr(protocol().judging, key) == value
    assert protocol().learning_rates == document["learning_rates"]


def test_the_readings() -> None:
    paper, flown = as_paper(), as_flown()
    assert (paper.clock, paper.solver, paper.round_trips) == ("slots", "carp", "slots")
    assert (flown.clock, flown.solver, flown.round_trips) == ("exact", "search", "seconds")
    assert protocol().readings == (paper, flown)


def test_networks_share_no_seed_and_none_has_that_of_the_search() -> None:
    seeds = [seed for network in range(20) for seed in seeds_of(network, 50)]
    assert len(set(seeds)) == len(seeds)
    assert 0 not in seeds
    assert seeds_of(0, 4) == (1, 2, 3, 4)
    assert seeds_of(3, 2) == seeds_of(3, 4)[:2]  # more seeds keep the runs there are


def test_one_network_has_enough_seeds_for_an_interval() -> None:
    single = protocol().single
    assert (single.networks, single.seeds) == (1, 4)
    assert not single.has_sweeps
    assert protocol().full.has_sweeps


def test_the_command_line_says_what_the_protocol_says() -> None:
    its, command = protocol(), import_module("flexpress.cli.reproduce")
    assert (its.full.networks, its.full.seeds) == (command._NETWORKS, command._SEEDS)
    assert its.single.seeds == command._SEEDS_OF_ONE
    assert its.quick.networks == command._QUICK_NETWORKS


def test_the_arithmetic_of_its_time() -> None:
    """As many runs per network as its comments count, and seconds for them."""
    its = protocol()
    swept = [each for sweep in sweeps_of(its.full) for each in sweep.settings]
    figures = set(_settings_of(FIGURES))
    counts = [
        Counter(setting.dataset for setting in settings)
        for settings in (figures, figures | set(swept))
    ]
    assert [(count["fmnist"], count["svhn"]) for count in counts] == [(32, 12), (75, 21)]
    seconds = {
        name: slots / 1000 * training + slots / its.full.eval_every * evaluation
        for (name, slots), training, evaluation in zip(
            its.full.horizon.items(), (12.2, 15.1), (0.08, 0.07), strict=True
        )
    }
    per_network = 75 * seconds["fmnist"] + 21 * seconds["svhn"]
    assert round(per_network, -1) == 1210
    assert its.full.networks * (per_network + 70) < 2 * 90 * 60
    assert its.single.seeds * (32 * seconds["fmnist"] + 12 * seconds["svhn"]) < 2 * 30 * 60
