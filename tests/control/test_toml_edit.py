"""Keys set in a scenario's text: comments stay, and the text says what it should."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexpress.control.toml_edit import set_key
from flexpress.errors import InputError
from flexpress.scenario import preset_names, preset_text

TEXT = """# A river.
name = "valley"  # its name

[network]  # metres
server = [400.0, 300.0]
clients = [  # two
    [1.0, 2.0],
    [3.0, 4.0],
]

[fleet]
speeds = [14.0]  # m/s
"""


def test_a_value_is_replaced_and_its_comment_stays() -> None:
    assert 'name = "coast"  # its name\n' in set_key(TEXT, "", "name", "coast")
    assert "speeds = [9.0]  # m/s\n" in set_key(TEXT, "fleet", "speeds", [9.0])


def test_a_list_of_several_lines() -> None:
    text = set_key(TEXT, "network", "clients", [[5.0, 6.0]])
    assert "clients = [\n    [5.0, 6.0],\n]\n\n[fleet]\n" in text
    assert "[network]  # metres\n" in text


def test_a_new_key_and_a_new_table() -> None:
    text = set_key(TEXT, "fleet", "budgets", ["1 kJ"])
    assert text.endswith('speeds = [14.0]  # m/s\nbudgets = ["1 kJ"]\n')
    assert set_key(TEXT, "plan", "solver", "exact").endswith('\n[plan]\nsolver = "exact"\n')


def test_a_key_is_removed() -> None:
    assert "server" not in set_key(TEXT, "network", "server", None)
    assert set_key(TEXT, "network", "no_fly", None) == TEXT
    assert set_key(TEXT, "power", "hover", None) == TEXT


def test_a_row_that_looks_like_a_table() -> None:
    text = "x = [\n  [fleet],\n]\n".replace("fleet", '"fleet"') + "[fleet]\nspeeds = [1.0]\n"
    assert tomllib.loads(set_key(text, "fleet", "speeds", [2.0]))["fleet"] == {"speeds": [2.0]}


@pytest.mark.parametrize("value", [[None], object])
def test_what_toml_has_not(value: object) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        set_key(TEXT, "fleet", "speeds", value)


VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.booleans(),
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), max_size=3),
)


@given(
    st.sampled_from(preset_names()),
    st.sampled_from(["", "network", "fleet", "link", "plan", "run"]),
    st.sampled_from(["name", "server", "clients", "speeds", "budgets", "rate", "horizon"]),
    VALUES | st.none(),
)
def test_it_says_what_it_should(name: str, table: str, key: str, value: object) -> None:
    text = preset_text(name)
    expected = tomllib.loads(text)
    section = (
        expected.setdefault(table, {})
        if table and value is not None
        else expected.get(table, {})
        if table
        else expected
    )
    section.pop(key, None)
    if value is not None:
        section[key] = [list(pair) for pair in value] if isinstance(value, list) else value
    found = set_key(text, table, key, value)
    assert tomllib.loads(found) == expected
    kept = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in kept if line not in found] == []
