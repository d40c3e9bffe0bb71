# SPDX-License-Identifier: Apache-2.0
"""Messages of Diameter: as bytes and back, as another decoder sees them, and what is none."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scapy.contrib.diameter import DiamG

from weir.ims.cx import CX, ORIGIN_HOST, PUBLIC, RESULT, SESSION, UAR, VENDOR_3GPP, VENDOR_APPLICATION
from weir.ims.diameter import REQUEST, Avp, DiameterError, Message, length_of

REQUESTED = Message(
    UAR,
    CX,
    REQUEST | 0x40,
    0x01020304,
    0xA0B0C0D0,
    (
        Avp.text(SESSION, "icscf;1;2"),
        Avp.text(ORIGIN_HOST, "icscf"),
        Avp.text(PUBLIC, "sip:1001@ims.test", VENDOR_3GPP),
        Avp.group(VENDOR_APPLICATION, (Avp.number(266, VENDOR_3GPP), Avp.number(258, CX))),
    ),
)

avps = some.builds(
    Avp,
    code=some.integers(1, 2**32 - 1),
    data=some.binary(max_size=40),
    vendor=some.sampled_from((0, VENDOR_3GPP)),
    mandatory=some.booleans(),
)
messages = some.builds(
    Message,
    command=some.integers(0, 2**24 - 1),
    application=some.integers(0, 2**32 - 1),
    flags=some.integers(0, 255),
    hop=some.integers(0, 2**32 - 1),
    end=some.integers(0, 2**32 - 1),
    avps=some.lists(avps, max_size=5).map(tuple),
)


@given(messages)
def test_what_is_encoded_is_decoded_to_the_same(message: Message) -> None:
    data = message.encoded()
    assert len(data) % 4 == 0
    assert length_of(data) == len(data)
    assert Message.decoded(data) == message


def test_another_decoder_sees_the_same_attributes() -> None:
    seen = DiamG(REQUESTED.encoded())
    assert (seen.version, seen.drLen, seen.drAppId) == (1, len(REQUESTED.encoded()), CX)
    assert [one.avpCode for one in seen.avpList] == [one.code for one in REQUESTED.avps]
    assert bytes(seen.avpList[2].val).rstrip(b"\0") == b"sip:1001@ims.test"
    assert seen.avpList[2].avpVnd == VENDOR_3GPP


@given(some.binary(max_size=80))
def test_bytes_that_are_no_message_are_refused_and_nothing_else_happens(data: bytes) -> None:
    with suppress(DiameterError):
        Message.decoded(data)


@pytest.mark.parametrize("at", range(20, 60))
def test_a_message_that_was_cut_short_is_refused(at: int) -> None:
    whole = REQUESTED.encoded()
    with pytest.raises(DiameterError):
        Message.decoded(whole[:at])


def test_an_attribute_that_is_longer_than_its_message_is_refused() -> None:
    broken = bytearray(Message(UAR, CX, REQUEST, 1, 2, (Avp.number(RESULT, 1),)).encoded())
    broken[27] = 200
    with pytest.raises(DiameterError, match="says it has 200 bytes"):
        Message.decoded(bytes(broken))


def test_an_answer_has_its_requests_identifiers() -> None:
    answer = REQUESTED.answer((Avp.number(RESULT, 2001),))
    assert (answer.hop, answer.end, answer.request) == (REQUESTED.hop, REQUESTED.end, False)
    assert answer.flags == 0x40
    found = answer.first(RESULT)
    assert found is not None
    assert found.value == 2001
