"""No bytes of a peer's make a decoder fail in another way than it says, or take much memory."""

from __future__ import annotations

import os
import random
from typing import Any

import msgspec
import pytest
from aiohttp.test_utils import make_mocked_request
from fuzzing import (
    EXAMPLES,
    changed,
    check_box,
    check_certificate,
    check_memory,
    check_message,
    check_number,
    check_parcel,
    check_snapshot,
    fuzz,
    targets,
)
from hypothesis import given
from hypothesis import strategies as st

from flexpress.field import messages, operator
from flexpress.field.messages import Message, WireError
from flexpress.field.serving import _range

TARGETS = targets()
KINDS = [type(example) for example in EXAMPLES]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def all_messages() -> set[type[Message]]:
    """What peers send; settings in files are messages too, but nobody sends them."""
    sent = (messages.__name__, operator.__name__)
    return {kind for kind in _kinds(Message) if kind.__module__ in sent}


def _kinds(kind: type[Message]) -> set[type[Message]]:
    return {each for below in kind.__subclasses__() for each in (below, *_kinds(below))}


def test_every_message_has_an_example() -> None:
    assert set(KINDS) == all_messages()
    for example in EXAMPLES:
        assert check_message(messages.encode(example), type(example))


@given(st.binary(), st.sampled_from(KINDS))
def test_any_bytes(content: bytes, kind: type[Message]) -> None:
    check_message(content, kind)


@given(JSON, st.sampled_from(KINDS))
def test_any_json(value: Any, kind: type[Message]) -> None:
    check_message(msgspec.json.encode(value), kind)


@given(st.sampled_from(EXAMPLES), st.data())
def test_a_field_of_another_kind(example: Message, data: st.DataObject) -> None:
    """One field of a message has any value, or there is one more."""
    fields = msgspec.to_builtins(example)
    fields[data.draw(st.sampled_from([*fields, "more"]))] = data.draw(JSON)
    check_message(msgspec.json.encode(fields), type(example))


@given(st.integers(0, 2**32), st.integers(0, len(TARGETS) - 1))
def test_changed_bytes(seed: int, index: int) -> None:
    _, example, check = TARGETS[index]
    check(changed(example, random.Random(seed)))


def test_what_was_not_changed_is_accepted() -> None:
    """So that the checks above do not hold because nothing ever is."""
    for name, example, check in TARGETS:
        assert check(example), name


@given(st.binary(max_size=300))
def test_any_bytes_elsewhere(content: bytes) -> None:
    for check in (check_snapshot, check_parcel, check_box, check_certificate, check_number):
        check(content)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"parcels":' * 50_000,
        b'{"seen":[' + b'{"client":"x"},' * 10_000,
        b'{"beyond":[' + b"1," * 100_000 + b"1]}",
        b'{"error":"' + b"x" * 500_000 + b'"}',
        b"9" * 200_000,
        b'{"contents":[' + b'["' + b"a" * 64 + b'",1],' * 3_000,
        b" " * 500_000,
    ],
    ids=lambda content: content[:12].decode(),
)
def test_memory_is_bounded(content: bytes, kind: type[Message]) -> None:
    check_memory(content, kind)


def test_more_than_the_limit_is_not_even_looked_at() -> None:
    with pytest.raises(WireError, match="must be at most 10"):
        messages.decode(b'{"error":"x"}', messages.Problem, most=10)


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=50))
def test_any_range(text: str) -> None:
    for header in (text, f"bytes={text}"):
        part = _range(make_mocked_request("GET", "/", headers={"Range": header}), 1000)
        assert part is None or 0 <= part.start < part.stop <= 1000


@pytest.mark.slow
def test_for_a_while() -> None:
    """Ten minutes, or FLEXPRESS_FUZZ_SECONDS; a failure prints its seed and bytes."""
    seed = random.randrange(2**32)
    found = fuzz(float(os.environ.get("FLEXPRESS_FUZZ_SECONDS", "600")), seed)
    assert found.total() > 0
