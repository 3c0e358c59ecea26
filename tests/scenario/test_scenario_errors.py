"""Every mistake in a scenario file ends in one line: file, key, value, what is allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flexpress.errors import InputError
from flexpress.scenario import Scenario

GOOD = """
name = "valley"
seed = 0
slot = 60.0
[network]
server = [0.0, 0.0]
clients = [[3.0, 0.0], [3.0, 4.0]]
[fleet]
speeds = [10.0, 10.0]
budgets = [15e3, 15e3]
[link]
transfer_time = 16.0
[power]
flight = 30.0
hover = 20.0
transmit = 0.1
[plan]
objective = "sws"
solver = "search"
"""
SPEED_HINT = '(m/s, or text with a unit such as "36 km/h")'
SHANNON = """bandwidth = "50 MHz"
altitude = "1 km"
transmit_power = "20 dBm"
channel_gain = "-50 dB"
noise = "-174 dBm/Hz"
model_size = "100 MB"
"""
LINK_WAYS = (
    "give exactly one of transfer_time; or rate + model_size; "
    "or bandwidth + altitude + transmit_power + channel_gain + noise + model_size"
)
CLIENTS = "clients = [[3.0, 0.0], [3.0, 4.0]]"
SERVER_AND_CLIENTS = f"server = [0.0, 0.0]\n{CLIENTS}"


def error_line(tmp_path: Path, text: str) -> str:
    """What is said about a file with this text, without the file's name."""
    path = tmp_path / "valley.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        Scenario.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    assert "http" not in message
    assert "validation error" not in message
    return message.removeprefix(f"{path}: ")


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_the_good_file_is_good(tmp_path: Path) -> None:
    path = tmp_path / "valley.toml"
    path.write_text(GOOD)
    assert Scenario.load(path).num_clients == 2


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # one value out of its range
        (
            "speeds = [10.0, 10.0]",
            "speeds = [10.0, -3.0]",
            f"fleet.speeds[1] = -3.0: must be greater than 0 {SPEED_HINT}",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speeds = [0, 10.0]",
            f"fleet.speeds[0] = 0: must be greater than 0 {SPEED_HINT}",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speeds = [nan, 10.0]",
            f"fleet.speeds[0] = nan: must be a finite number {SPEED_HINT}",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speeds = [inf, 10.0]",
            f"fleet.speeds[0] = inf: must be a finite number {SPEED_HINT}",
        ),
        (
            "budgets = [15e3, 15e3]",
            'budgets = [15e3, "0 kJ"]',
            'fleet.budgets[1] = "0 kJ": must be greater than 0 '
            '(J, or text with a unit such as "15 kJ")',
        ),
        (
            "slot = 60.0",
            "slot = 0.0",
            'slot = 0.0: must be greater than 0 (s, or text with a unit such as "1 min")',
        ),
        (
            "seed = 0",
            "seed = -1",
            "seed = -1: must be at least 0 (0 to 2^63 - 1)",
        ),
        (
            "seed = 0",
            "seed = 9223372036854775808",
            "seed = 9223372036854775808: must be at most 9223372036854775807 (0 to 2^63 - 1)",
        ),
        (
            "transfer_time = 16.0",
            "transfer_time = -1.0",
            "link.transfer_time = -1.0: must be at least 0 "
            '(s, or text with a unit such as "1 min")',
        ),
        (
            "hover = 20.0",
            "hover = -20",
            'power.hover = -20: must be at least 0 (W, or text with a unit such as "20 dBm")',
        ),
        # wrong types
        (
            "speeds = [10.0, 10.0]",
            'speeds = ["fast", 10.0]',
            f'fleet.speeds[0] = "fast": must be a number {SPEED_HINT}',
        ),
        (
            "speeds = [10.0, 10.0]",
            'speeds = ["10", 10.0]',
            f"fleet.speeds[0] = \"10\": '10' lacks a unit: must be a number {SPEED_HINT}",
        ),
        (
            "speeds = [10.0, 10.0]",
            'speeds = ["10 knots", 10.0]',
            "fleet.speeds[0] = \"10 knots\": unknown unit in '10 knots': "
            "a speed may be given in m/s, km/h, mph, kn",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speeds = [true, 10.0]",
            f"fleet.speeds[0] = true: must be a number {SPEED_HINT}",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speeds = 10.0",
            "fleet.speeds = 10.0: must be a list in brackets (m/s, one entry per transporter)",
        ),
        (
            "slot = 60.0",
            "slot = 1979-05-27",
            'slot = 1979-05-27: must be a number (s, or text with a unit such as "1 min")',
        ),
        (
            "seed = 0",
            "seed = 1.0",
            "seed = 1.0: must be a whole number (0 to 2^63 - 1)",
        ),
        (
            "seed = 0",
            "seed = true",
            "seed = true: must be a whole number (0 to 2^63 - 1)",
        ),
        (
            "seed = 0",
            'seed = "1"',
            'seed = "1": must be a whole number (0 to 2^63 - 1)',
        ),
        (
            'name = "valley"',
            "name = 7",
            'name = 7: must be text in quotes, such as "valley"',
        ),
        (
            'name = "valley"',
            'name = "two\\nlines"',
            'name = "two\\nlines": must be text of printable characters, '
            "without spaces at its ends",
        ),
        (
            'objective = "sws"',
            'objective = "fastest"',
            "plan.objective = \"fastest\": must be 'minmax', 'sws' or 'total'",
        ),
        (
            'objective = "sws"',
            'round_trips = "hours"',
            "plan.round_trips = \"hours\": must be 'seconds' or 'slots' "
            "(what the objective counts: seconds, or whole slots)",
        ),
        (
            'solver = "search"',
            "solver = 3",
            "plan.solver = 3: must be 'search', 'carp' or 'exact'",
        ),
        # unknown keys
        (
            "budgets =",
            "budget =",
            "fleet.budget = [15000.0, 15000.0]: unknown key "
            '(did you mean "budgets"?); allowed: speeds, budgets',
        ),
        (
            "seed = 0",
            "wind = 3",
            "wind = 3: unknown key; "
            "allowed: name, seed, slot, network, fleet, link, power, plan, learning, run",
        ),
        (
            "[plan]",
            "[plam]",
            'plam: unknown key (did you mean "plan"?); '
            "allowed: name, seed, slot, network, fleet, link, power, plan, learning, run",
        ),
        (
            "speeds = [10.0, 10.0]",
            "speed = [10.0, 10.0]",
            'fleet.speed = [10.0, 10.0]: unknown key (did you mean "speeds"?); '
            "allowed: speeds, budgets (and 1 more)",
        ),
        (
            "seed = 0",
            '"a\\nb" = 3',
            '"a\\nb" = 3: unknown key; '
            "allowed: name, seed, slot, network, fleet, link, power, plan, learning, run",
        ),
        # fleet
        (
            "speeds = [10.0, 10.0]",
            "speeds = []",
            "fleet.speeds = []: must have at least one entry: one speed per transporter, m/s",
        ),
        (
            "speeds = [10.0, 10.0]\n",
            "",
            "fleet.speeds: is missing (m/s, one entry per transporter)",
        ),
        (
            "budgets = [15e3, 15e3]",
            "budgets = [15e3]",
            "fleet.budgets = [15000.0]: 1 budgets for 2 speeds: "
            "must have one entry per transporter",
        ),
        # network
        (
            CLIENTS,
            "clients = []",
            "network.clients = []: gives 0 clients: must be 1 to 1000000",
        ),
        (
            CLIENTS,
            "clients = [[3.0, 0.0], [3.0, nan]]",
            "network.clients[1] = [3.0, nan]: y must be a finite number "
            '(m, or text with a unit such as "1 km")',
        ),
        (
            CLIENTS,
            "clients = [[3.0, 0.0], [3.0]]",
            "network.clients[1] = [3.0]: must be [x, y], two numbers "
            '(m, or text with a unit such as "1 km")',
        ),
        (
            CLIENTS,
            "clients = [[1e10, 0.0]]",
            "network.clients[0] = [10000000000.0, 0.0]: x must lie within +-1e+09 m "
            '(m, or text with a unit such as "1 km")',
        ),
        (
            CLIENTS,
            "clients = 3",
            "network.clients = 3: must be a list in brackets "
            '(a list of [x, y] in metres or of { lat, lon }, or a file: "sensors.csv")',
        ),
        (
            "server = [0.0, 0.0]\n",
            "",
            "network.server: is missing: give [x, y] in metres, or { lat, lon }",
        ),
        (
            "server = [0.0, 0.0]",
            "server = [-inf, 0.0]",
            "network.server = [-inf, 0.0]: x must be a finite number "
            '(m, or text with a unit such as "1 km")',
        ),
        (
            CLIENTS,
            f'{CLIENTS}\nids = ["a", "a"]',
            'network.ids = ["a", "a"]: id a stands at [0] and [1]: each id once',
        ),
        (
            CLIENTS,
            f'{CLIENTS}\nids = [1, "1"]',
            'network.ids = [1, "1"]: id 1 stands at [0] and [1]: each id once',
        ),
        (
            CLIENTS,
            f"{CLIENTS}\nids = [1]",
            "network.ids = [1]: 1 ids for 2 clients",
        ),
        (
            CLIENTS,
            f"{CLIENTS}\nids = [1, 2.0]",
            'network.ids[1] = 2.0: must be a whole number or text, such as 7 or "weir"',
        ),
        (
            CLIENTS,
            f'{CLIENTS}\nids = [1, ""]',
            'network.ids[1] = "": must be text of printable characters, without spaces at its ends',
        ),
        (
            CLIENTS,
            f"{CLIENTS}\nblocks = [1, 1]",
            "network: blocks does not belong with clients: "
            "give exactly one of clients; or area + blocks + clients_per_block",
        ),
        (
            CLIENTS,
            "area = [10, 10]\nblocks = [1, 1]",
            "network: clients_per_block is missing: "
            "give exactly one of clients; or area + blocks + clients_per_block",
        ),
        (
            CLIENTS,
            "area = [10, 10]\nblocks = [1000, 1000]\nclients_per_block = 2",
            "network.clients_per_block = 2: gives 2000000 clients: must be 1 to 1000000",
        ),
        (
            CLIENTS,
            "area = [10, 10]\nblocks = [1, 1]\nclients_per_block = 0",
            "network.clients_per_block = 0: must be at least 1 (one number for all)",
        ),
        (
            CLIENTS,
            "area = [10, 10]\nblocks = [5, 2.0]\nclients_per_block = 1",
            "network.blocks = [5, 2.0]: must be [columns, rows], two whole numbers of at least 1",
        ),
        (
            CLIENTS,
            "area = [10, 0]\nblocks = [1, 1]\nclients_per_block = 1",
            "network.area = [10, 0]: height must be greater than 0 "
            '(m, or text with a unit such as "1 km")',
        ),
        (
            CLIENTS,
            "area = [10, 10]\nblocks = [1, 1]\nclients_per_block = 1\nids = [1]",
            "network.ids = [1]: only with listed clients: generated ones are 1, 2, 3, ...",
        ),
        # link
        (
            "transfer_time = 16.0",
            "transfer_time = 16.0\nrate = 1",
            f"link: rate does not belong with transfer_time: {LINK_WAYS}",
        ),
        ("transfer_time = 16.0", "rate = 1", f"link: model_size is missing: {LINK_WAYS}"),
        ("transfer_time = 16.0", "", f"link: transfer_time is missing: {LINK_WAYS}"),
        (
            "transfer_time = 16.0",
            SHANNON.replace('noise = "-174 dBm/Hz"\n', ""),
            f"link: noise is missing: {LINK_WAYS}",
        ),
        (
            "transfer_time = 16.0",
            "rate = 0.001\nmodel_size = 1e15",
            "link: these values give a transfer time of 8e18 s: must be at most 1e9 s; "
            "check their units",
        ),
        (
            "transfer_time = 16.0",
            SHANNON.replace('"-50 dB"', "1e-20"),
            "link: these values give a transfer time of 2.20757e15 s: must be at most 1e9 s; "
            "check their units",
        ),
        (
            "[link]\ntransfer_time = 16.0\n",
            "",
            "link: is missing (the section [link]: time to pass a model to a client)",
        ),
        # power
        (
            "flight = 30.0",
            "flight = 30.0\nc1 = 1.0",
            "power: c1 does not belong with flight: give exactly one of flight; or c1 + c2",
        ),
        (
            "flight = 30.0",
            "c1 = 1.0",
            "power: c2 is missing: give exactly one of flight; or c1 + c2",
        ),
        (
            "flight = 30.0",
            'c1 = "1 W"\nc2 = 1.0',
            'power.c1 = "1 W": must be a number (W s^3/m^3, without quotes)',
        ),
        (
            "flight = 30.0",
            "c1 = 1e7\nc2 = 0.0",
            "fleet.speeds = [10.0, 10.0]: c1 V^3 + c2 / V is 1e+10 W at 10.0 m/s: "
            "must be at most 1e9 W",
        ),
        (
            "transfer_time = 16.0",
            SHANNON.replace("20 dBm", "30 dBm"),
            "power.transmit = 0.1: link.transmit_power is 1.0 W; give it once",
        ),
        # sections
        (
            "[plan]",
            "[[plan]]",
            'plan = [{objective = "sws", solver = "search"}]: must be a table of keys '
            "(the section [plan])",
        ),
    ],
)
def test_one_mistake_one_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert error_line(tmp_path, changed(old, new)) == expected


def test_several_mistakes_tell_the_first_and_count_the_others(tmp_path: Path) -> None:
    text = changed("speeds = [10.0, 10.0]", "speeds = [-1.0, -2.0, -3.0]")
    assert error_line(tmp_path, text) == (
        f"fleet.speeds[0] = -1.0: must be greater than 0 {SPEED_HINT} (and 2 more)"
    )


def test_an_empty_file(tmp_path: Path) -> None:
    message = error_line(tmp_path, "")
    assert message == "network: is missing (the section [network]: server and clients) (and 2 more)"


def test_long_values_are_cut(tmp_path: Path) -> None:
    message = error_line(tmp_path, changed('name = "valley"', f"name = {['x' * 5] * 1000}"))
    value = message.removeprefix("name = ").split(": must be")[0]
    assert value.endswith(" ...")
    assert len(value) == 60


def test_a_number_too_long_to_print(tmp_path: Path) -> None:
    message = error_line(tmp_path, changed("slot = 60.0", f"slot = 0x{'f' * 5000}"))
    assert message.startswith("slot = a number of thousands of digits: must be a finite number")


def test_data_from_python_names_its_source() -> None:
    with pytest.raises(InputError, match=r"^my data: network: is missing .* \(and 2 more\)$"):
        Scenario.from_dict({}, source="my data")


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["36 km/h", "20 dBm", "-50 dB", "1e999 m", 2**70, 1e308, 5e-324])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
KEYS = [
    *[(key,) for key in Scenario.model_fields],
    *[("network", key) for key in ("server", "clients", "ids", "area", "blocks")],
    *[("network", key) for key in ("names", "altitudes", "distances", "no_fly", "no_fly_margin")],
    *[("fleet", key) for key in ("speeds", "budgets", "unknown")],
    *[("link", key) for key in ("transfer_time", "rate", "model_size", "noise", "altitude")],
    *[("power", key) for key in ("flight", "c1", "hover", "transmit")],
    *[("plan", key) for key in ("objective", "round_trips", "solver")],
]


def scenario_or_error(data: dict[str, object]) -> Scenario | str:
    try:
        return Scenario.from_dict(data, source="valley.toml")
    except InputError as error:
        return str(error)


@settings(deadline=None)  # a busy machine is no failure
@given(st.sampled_from(KEYS), values)
@example(("network", "clients"), [[5e-324, -0.0]])
@example(("link",), {"rate": 5e-324, "model_size": 1e308})
def test_whatever_stands_at_a_key_is_read_or_refused_in_one_line(
    key: tuple[str, ...], value: object
) -> None:
    data = tomllib.loads(GOOD)
    *table, name = key
    (data[table[0]] if table else data)[name] = value
    outcome = scenario_or_error(data)
    if isinstance(outcome, str):
        assert outcome.startswith("valley.toml: ")
        assert outcome.isprintable()
    else:
        assert Scenario.from_dict(tomllib.loads(outcome.to_toml())) == outcome
