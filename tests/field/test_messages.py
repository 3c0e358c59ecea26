"""Digests, signatures and runs are written in one way only."""

from __future__ import annotations

import pytest

from flexpress.field.kit import OperatorKit
from flexpress.field.messages import (
    Departing,
    Missing,
    Receipt,
    SignedSnapshot,
    UpdateName,
    WireError,
    decode,
    encode,
)

MESSAGES = {
    "run": Departing("0" * 32),
    "incarnation": UpdateName("client-1", "0" * 16, 1),
    "signature": SignedSnapshot("", "0" * 128),
    "manifest": Receipt("1" * 32, 1, "0" * 64),
    "contents": Missing((("0" * 64, 1),)),
    "kit": OperatorKit("0" * 32, "operator", "localhost", 7600),
}


@pytest.mark.parametrize("end", [b"0", b"\\n", b"\\u0000", b" "])
@pytest.mark.parametrize("field", MESSAGES)
def test_nothing_follows_the_last_digit(field: str, end: bytes) -> None:
    message = MESSAGES[field]
    content = encode(message)
    assert decode(content, type(message)) == message
    with pytest.raises(WireError, match="regex"):
        decode(content.replace(b'0"', b"0" + end + b'"', 1), type(message))
