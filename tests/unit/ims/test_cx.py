# SPDX-License-Identifier: Apache-2.0
"""What the subscriber server answers: of who may register, with which vector, who serves whom."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from weir.ims import cx
from weir.ims.cx import SubscriberServer
from weir.ims.diameter import ERROR, REQUEST, Avp, Message, length_of
from weir.ims.milenage import Milenage, vector
from weir.ims.server import keep, listening
from weir.ims.subscribers import read, written

SERVING = "sip:10.0.0.6:5060"
KEY, OP = b"k" * 16, b"o" * 16
ROWS = [
    (f"{user}@ims.test", f"sip:{user}@ims.test", KEY.hex(), OP.hex(), "8000") for user in ("1001", "1002&co")
]
RAND = bytes(range(16))


@pytest.fixture
def server() -> SubscriberServer:
    return SubscriberServer(
        "hss.ims.test", "ims.test", "10.0.0.7", SERVING, subscribers=read(written(ROWS)), rand=lambda: RAND
    )


def asked(command: int, *avps: Avp, application: int = cx.CX) -> Message:
    return Message(command, application, REQUEST, 7, 8, (Avp.text(cx.SESSION, "s;1"), *avps))


def public(user: str = "1001") -> Avp:
    return Avp.text(cx.PUBLIC, f"sip:{user}@ims.test", cx.VENDOR_3GPP)


def private(user: str = "1001") -> Avp:
    return Avp.text(cx.USER_NAME, f"{user}@ims.test")


def number(answer: Message, code: int) -> int | None:
    found = answer.first(code)
    return None if found is None else found.value


def experimental(answer: Message) -> int | None:
    group = answer.first(cx.EXPERIMENTAL)
    if group is None:
        return None
    return next(one.value for one in group.members if one.code == cx.EXPERIMENTAL_CODE)


def named(answer: Message) -> str | None:
    found = answer.first(cx.SERVER_NAME, cx.VENDOR_3GPP)
    return None if found is None else found.words


def assigned(server: SubscriberServer, kind: int = 1, name: str = SERVING) -> Message:
    its_name = Avp.text(cx.SERVER_NAME, name, cx.VENDOR_3GPP)
    why = Avp.number(cx.ASSIGNMENT, kind, cx.VENDOR_3GPP)
    return server.answer(asked(cx.SAR, private(), public(), its_name, why))


def served(server: SubscriberServer) -> str | None:
    """By whom, as who calls the subscriber learns it; None: it is not registered."""
    return named(server.answer(asked(cx.LIR, public())))


def failed(answer: Message) -> tuple[int, int, bytes] | None:
    """The attribute that an answer says is at fault: code, vendor and value."""
    group = answer.first(cx.FAILED)
    return (one.code, one.vendor, one.data) if group is not None and (one := group.members[0]) else None


def test_a_peer_learns_that_it_speaks_cx(server: SubscriberServer) -> None:
    answer = server.answer(asked(cx.CER, application=0))
    assert number(answer, cx.RESULT) == cx.SUCCESS
    group = answer.first(cx.VENDOR_APPLICATION)
    assert group is not None
    assert [one.value for one in group.members] == [cx.VENDOR_3GPP, cx.CX]
    assert number(server.answer(asked(cx.DWR, application=0)), cx.RESULT) == cx.SUCCESS


def test_the_first_registration_is_told_which_servers_there_are_the_next_one_its_own(
    server: SubscriberServer,
) -> None:
    first = server.answer(asked(cx.UAR, private(), public()))
    assert (experimental(first), named(first)) == (cx.FIRST, None)
    group = first.first(cx.CAPABILITIES, cx.VENDOR_3GPP)
    assert group is not None
    assert group.members[0].words == SERVING
    server.answer(asked(cx.MAR, private(), public(), Avp.text(cx.SERVER_NAME, "sip:mine", cx.VENDOR_3GPP)))
    second = server.answer(asked(cx.UAR, private(), public()))
    assert (experimental(second), named(second)) == (cx.SUBSEQUENT, "sip:mine")


def test_a_vector_is_milenages(server: SubscriberServer) -> None:
    answer = server.answer(asked(cx.MAR, private(), public()))
    item = answer.first(cx.ITEM, cx.VENDOR_3GPP)
    assert item is not None
    values = {one.code: one.data for one in item.members}
    made = vector(Milenage.of(KEY, OP), RAND, 32, bytes.fromhex("8000"))
    assert values[cx.AUTHENTICATE] == made.rand + made.autn
    assert values[cx.AUTHORIZATION] == made.xres
    assert (values[cx.CK], values[cx.IK]) == (made.ck, made.ik)
    assert values[cx.SCHEME].decode() == cx.AKA


def asked_to_synchronize(server: SubscriberServer, auts: bytes) -> Message:
    item = Avp.group(cx.ITEM, (Avp(cx.AUTHORIZATION, RAND + auts, cx.VENDOR_3GPP),), cx.VENDOR_3GPP)
    return server.answer(asked(cx.MAR, private(), public(), item))


def vector_of(answer: Message) -> bytes:
    item = answer.first(cx.ITEM, cx.VENDOR_3GPP)
    assert item is not None
    return next(one.data for one in item.members if one.code == cx.AUTHENTICATE)


def test_who_has_counted_further_is_synchronized_with_and_nobody_else(server: SubscriberServer) -> None:
    known, theirs = Milenage.of(KEY, OP), 1 << 20
    number = theirs.to_bytes(6, "big")
    hidden = bytes(one ^ other for one, other in zip(number, known.f5_star(RAND), strict=True))
    _, mac = known.f1(RAND, number, bytes(2))
    amf = bytes.fromhex("8000")

    def next_is(answer: Message, sqn: int) -> bool:
        made = vector(known, RAND, sqn, amf)
        return vector_of(answer) == made.rand + made.autn

    assert next_is(asked_to_synchronize(server, hidden + bytes(8)), 32)
    assert next_is(asked_to_synchronize(server, (hidden + mac)[:-1]), 64)
    assert next_is(asked_to_synchronize(server, hidden + mac), theirs + 32)
    assert next_is(server.answer(asked(cx.MAR, private(), public())), theirs + 64)
    assert next_is(asked_to_synchronize(server, hidden + mac), theirs + 96), "it is behind by now"


def test_who_has_registered_is_found_and_who_has_left_is_not(server: SubscriberServer) -> None:
    assert experimental(server.answer(asked(cx.LIR, public()))) == cx.NOT_REGISTERED
    server.answer(asked(cx.MAR, private(), public()))
    assert number(assigned(server), cx.RESULT) == cx.SUCCESS
    assert named(server.answer(asked(cx.LIR, public()))) == SERVING
    assigned(server, kind=5)
    assert experimental(server.answer(asked(cx.LIR, public()))) == cx.NOT_REGISTERED


@pytest.mark.parametrize("kind", [0, 9, 10])
def test_who_only_asks_for_a_profile_or_has_not_authenticated_registers_nobody(
    server: SubscriberServer, kind: int
) -> None:
    server.answer(asked(cx.MAR, private(), public()))
    assert number(assigned(server, kind), cx.RESULT) == cx.SUCCESS
    assert served(server) is None


@pytest.mark.parametrize("kind", [0, 2, 9, 10])
def test_who_is_registered_stays_so_whoever_fails_to_authenticate_as_them(
    server: SubscriberServer, kind: int
) -> None:
    assigned(server)
    assert number(assigned(server, kind), cx.RESULT) == cx.SUCCESS
    assert served(server) == SERVING


def test_who_is_called_while_not_registered_is_served_by_the_server_that_said_so(
    server: SubscriberServer,
) -> None:
    for _ in range(2):  # of nobody, and of who was registered (TS 29.228, 6.1.2 and 6.1.4)
        assert number(assigned(server, 3), cx.RESULT) == cx.SUCCESS
        assert served(server) == SERVING
        assigned(server, 9)  # somebody else fails to authenticate
        assert served(server) == SERVING
        assigned(server, 1)
    assigned(server, 5)
    assert served(server) is None


@pytest.mark.parametrize("kind", [12, 13, 14])
def test_assignments_of_other_interfaces_are_refused(server: SubscriberServer, kind: int) -> None:
    assert number(assigned(server, kind), cx.RESULT) == cx.INVALID_VALUE


@pytest.mark.parametrize("kind", [9, 10])
def test_who_has_not_authenticated_is_served_by_whoever_comes_next(
    server: SubscriberServer, kind: int
) -> None:
    server.answer(asked(cx.MAR, private(), public()))
    assigned(server, kind)
    assert experimental(server.answer(asked(cx.UAR, private(), public()))) == cx.FIRST


@pytest.mark.parametrize("kind", [4, 5, 8, 11])
def test_who_leaves_is_served_by_nobody(server: SubscriberServer, kind: int) -> None:
    assigned(server)
    assert number(assigned(server, kind), cx.RESULT) == cx.SUCCESS
    assert served(server) is None
    assert experimental(server.answer(asked(cx.UAR, private(), public()))) == cx.FIRST


@pytest.mark.parametrize("kind", [6, 7])
def test_a_server_that_wants_its_name_kept_is_told_that_it_is_not(
    server: SubscriberServer, kind: int
) -> None:
    assigned(server)
    answer = assigned(server, kind)
    assert (number(answer, cx.RESULT), experimental(answer)) == (None, cx.NAME_NOT_STORED)
    assert served(server) is None


def test_a_profile_goes_to_no_server_but_the_one_that_serves_it(server: SubscriberServer) -> None:
    assigned(server)
    answer = assigned(server, 0, "sip:another")
    assert number(answer, cx.RESULT) == cx.UNABLE
    assert answer.first(cx.USER_DATA, cx.VENDOR_3GPP) is None
    assert served(server) == SERVING


def test_an_assignment_that_is_none_of_cx_is_refused_with_it(server: SubscriberServer) -> None:
    answer = assigned(server, 99)
    assert number(answer, cx.RESULT) == cx.INVALID_VALUE
    assert failed(answer) == (cx.ASSIGNMENT, cx.VENDOR_3GPP, (99).to_bytes(4, "big"))
    assert served(server) is None


def test_the_profile_is_xml_whatever_a_subscriber_is_called(server: SubscriberServer) -> None:
    kind = Avp.number(cx.ASSIGNMENT, 1, cx.VENDOR_3GPP)
    answer = server.answer(asked(cx.SAR, private("1002&co"), public("1002&co"), kind))
    data = answer.first(cx.USER_DATA, cx.VENDOR_3GPP)
    assert data is not None
    root = ElementTree.fromstring(data.words)
    assert root.findtext("PrivateID") == "1002&co@ims.test"
    assert root.findtext("ServiceProfile/PublicIdentity/Identity") == "sip:1002&co@ims.test"


@pytest.mark.parametrize("command", [cx.UAR, cx.MAR, cx.SAR, cx.LIR])
def test_who_is_not_known_and_who_is_somebody_else_are_refused(
    server: SubscriberServer, command: int
) -> None:
    assert experimental(server.answer(asked(command, public("9999")))) == cx.UNKNOWN
    assert experimental(server.answer(asked(command, private("9999"), public()))) == cx.MISMATCH
    assert number(server.answer(asked(command)), cx.RESULT) == cx.MISSING
    assert server.answered["refused"] == 3


def test_what_is_missing_is_said(server: SubscriberServer) -> None:
    for command in (cx.UAR, cx.MAR, cx.SAR, cx.LIR):
        assert failed(server.answer(asked(command))) == (cx.PUBLIC, cx.VENDOR_3GPP, b"")
    answer = server.answer(asked(cx.SAR, private(), public()))
    assert number(answer, cx.RESULT) == cx.MISSING
    assert failed(answer) == (cx.ASSIGNMENT, cx.VENDOR_3GPP, bytes(4))


@pytest.mark.parametrize(
    ("command", "application", "result"),
    [
        (999, cx.CX, cx.UNSUPPORTED_COMMAND),
        (999, 0, cx.UNSUPPORTED_COMMAND),
        (cx.UAR, 4, cx.UNSUPPORTED_APPLICATION),
        (999, 4, cx.UNSUPPORTED_APPLICATION),
    ],
)
def test_a_command_that_is_none_of_cx_is_an_error_of_the_protocol(
    server: SubscriberServer, command: int, application: int, result: int
) -> None:
    answer = server.answer(asked(command, public(), application=application))
    assert answer.flags & ERROR
    assert [(one.code, one.data) for one in answer.avps] == [
        (cx.SESSION, b"s;1"),
        (cx.ORIGIN_HOST, b"hss.ims.test"),
        (cx.ORIGIN_REALM, b"ims.test"),
        (cx.RESULT, result.to_bytes(4, "big")),
    ]
    assert server.answered["refused"] == 1


async def answered(server: SubscriberServer, counts: Path, data: bytes) -> bytes:
    """What comes back over TCP, until the other side leaves or has said one message."""
    kept = asyncio.create_task(keep(server, counts))
    async with await listening(server, "127.0.0.1", 0) as there:
        port = there.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        begin = await asyncio.wait_for(reader.read(4), 5)
        answer = begin + (await reader.readexactly(length_of(begin) - 4) if begin else b"")
        writer.close()
        await asyncio.sleep(0.6)  # counts are written twice a second
    kept.cancel()
    return answer


def test_it_answers_over_tcp_keeps_count_and_leaves_who_speaks_something_else(
    server: SubscriberServer, tmp_path: Path
) -> None:
    counts = tmp_path / "answered.json"
    answer = asyncio.run(answered(server, counts, asked(cx.DWR, application=0).encoded()))
    assert number(Message.decoded(answer), cx.RESULT) == cx.SUCCESS
    assert json.loads(counts.read_text()) == {"DWR": 1}
    assert asyncio.run(answered(server, counts, b"GET / HTTP/1.0\r\n\r\n")) == b""
