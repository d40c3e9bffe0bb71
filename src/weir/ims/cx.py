# SPDX-License-Identifier: Apache-2.0
"""What the subscriber server answers to I- and S-CSCF: Cx of 3GPP TS 29.228, attributes of 29.229."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from xml.sax.saxutils import escape

from weir.ims.aes import BLOCK_BYTES
from weir.ims.diameter import Avp, Message
from weir.ims.milenage import AUTS_BYTES
from weir.ims.subscribers import Subscriber

VENDOR_3GPP, CX = 10415, 16_777_216
CER, DWR, DPR = 257, 280, 282
UAR, SAR, LIR, MAR = 300, 301, 302, 303
NAMES: Mapping[int, str] = {
    CER: "CER", DWR: "DWR", DPR: "DPR", UAR: "UAR", SAR: "SAR", LIR: "LIR", MAR: "MAR",
}  # fmt: skip
USER_NAME, HOST_IP, SESSION, ORIGIN_HOST, ORIGIN_REALM = 1, 257, 263, 264, 296
AUTH_APPLICATION, VENDOR_APPLICATION, SUPPORTED_VENDOR, VENDOR, PRODUCT = 258, 260, 265, 266, 269
RESULT, STATE, FAILED, EXPERIMENTAL, EXPERIMENTAL_CODE = 268, 277, 279, 297, 298
PUBLIC, SERVER_NAME, CAPABILITIES, USER_DATA = 601, 602, 603, 606
ITEMS, SCHEME, AUTHENTICATE, AUTHORIZATION, ITEM, ITEM_NUMBER = 607, 608, 609, 610, 612, 613
ASSIGNMENT, CK, IK = 614, 625, 626
SUCCESS, UNSUPPORTED_COMMAND, UNSUPPORTED_APPLICATION = 2001, 3001, 3007
INVALID_VALUE, MISSING, UNABLE = 5004, 5005, 5012
FIRST, SUBSEQUENT, NAME_NOT_STORED, UNKNOWN, MISMATCH, NOT_REGISTERED = 2001, 2002, 2004, 5001, 5002, 5003
AKA = "Digest-AKAv1-MD5"
_NO_STATE = 1
_COMMON = 0
"""The application of what every peer knows."""
_REGISTERS, _LEAVES = frozenset({1, 2}), frozenset({4, 5, 6, 7, 8, 11})
"""Of Server-Assignment-Type (TS 29.229, 6.3.15): those that begin or renew a registration, and end it."""
_UNREGISTERED, _WANTS_NAME_KEPT = 3, frozenset({6, 7})
_NOT_AUTHENTICATED = frozenset({9, 10})
_PROFILE = frozenset({0})
"""Wants no more than the profile."""
_DATA = (
    '<?xml version="1.0" encoding="UTF-8"?><IMSSubscription><PrivateID>{private}</PrivateID>'
    "<ServiceProfile><PublicIdentity><Identity>{public}</Identity></PublicIdentity></ServiceProfile>"
    "</IMSSubscription>"
)


class SubscriberServer:
    """`host`, `realm`: its own names; `address`: "10.0.0.7"; `server`: URI of the S-CSCF that it names to
    who has none yet."""

    def __init__(
        self,
        host: str,
        realm: str,
        address: str,
        server: str,
        *,
        subscribers: Iterable[Subscriber],
        rand: Callable[[], bytes] = lambda: os.urandom(16),
    ) -> None:
        self._own = (Avp.text(ORIGIN_HOST, host), Avp.text(ORIGIN_REALM, realm))
        self._address = bytes([0, 1, *map(int, address.split("."))])
        self._server = server
        self._by_private: dict[str, Subscriber] = {}
        self._by_public: dict[str, Subscriber] = {}
        for one in subscribers:
            self._by_private[one.private], self._by_public[one.public] = one, one
        self._rand = rand
        self.answered: Counter[str] = Counter()
        """Requests, by name, and those that it refused as "refused"."""

    def answer(self, request: Message) -> Message:
        """To one. DiameterError if an attribute of it is not what it should be."""
        self.answered[NAMES.get(request.command, "other")] += 1
        if request.command == CER:
            return request.answer(self._capabilities())
        if request.command in (DWR, DPR):
            return request.answer((Avp.number(RESULT, SUCCESS), *self._own))
        does = {UAR: self._authorized, MAR: self._vector, SAR: self._assigned, LIR: self._located}
        what = does.get(request.command) if request.application == CX else None
        if what is None:
            known = request.application in (_COMMON, CX)
            code = UNSUPPORTED_COMMAND if known else UNSUPPORTED_APPLICATION
            return request.answer((*_session(request), *self._own, *self._refusal(code)), error=True)
        return request.answer((*_session(request), *self._cx(), *what(request)))

    def _capabilities(self) -> tuple[Avp, ...]:
        return (
            Avp.number(RESULT, SUCCESS),
            *self._own,
            Avp(HOST_IP, self._address),
            Avp.number(VENDOR, VENDOR_3GPP),
            Avp(PRODUCT, b"weir", mandatory=False),
            Avp.number(SUPPORTED_VENDOR, VENDOR_3GPP),
            _application(),
        )

    def _cx(self) -> tuple[Avp, ...]:
        return (_application(), Avp.number(STATE, _NO_STATE), *self._own)

    def _of(self, request: Message) -> Subscriber | tuple[Avp, ...]:
        """Whom it is about; else the refusal."""
        public, private = request.first(PUBLIC, VENDOR_3GPP), request.first(USER_NAME)
        if public is None and private is None:
            return self._refusal(MISSING, Avp(PUBLIC, b"", VENDOR_3GPP))
        if public is None:
            assert private is not None
            found = self._by_private.get(private.words)
        else:
            found = self._by_public.get(public.words)
        if found is None:
            return self._refused(UNKNOWN)
        if private is not None and private.words != found.private:
            return self._refused(MISMATCH)
        return found

    def _authorized(self, request: Message) -> tuple[Avp, ...]:
        found = self._of(request)
        if isinstance(found, tuple):
            return found
        if found.server is not None:
            return (_experimental(SUBSEQUENT), Avp.text(SERVER_NAME, found.server, VENDOR_3GPP))
        name = Avp.text(SERVER_NAME, self._server, VENDOR_3GPP)
        return (_experimental(FIRST), Avp.group(CAPABILITIES, (name,), VENDOR_3GPP))

    def _vector(self, request: Message) -> tuple[Avp, ...]:
        found, server = self._of(request), request.first(SERVER_NAME, VENDOR_3GPP)
        if isinstance(found, tuple):
            return found
        found.server = server.words if server is not None else self._server
        said = _failed_synchronization(request)
        if len(said) == BLOCK_BYTES + AUTS_BYTES:
            found.synchronize(said[:BLOCK_BYTES], said[BLOCK_BYTES:])
        made = found.vector(self._rand)
        item = (
            Avp.number(ITEM_NUMBER, 1, VENDOR_3GPP),
            Avp.text(SCHEME, AKA, VENDOR_3GPP),
            Avp(AUTHENTICATE, made.rand + made.autn, VENDOR_3GPP),
            Avp(AUTHORIZATION, made.xres, VENDOR_3GPP),
            Avp(CK, made.ck, VENDOR_3GPP),
            Avp(IK, made.ik, VENDOR_3GPP),
        )
        return (
            Avp.number(RESULT, SUCCESS),
            Avp.text(USER_NAME, found.private),
            Avp.text(PUBLIC, found.public, VENDOR_3GPP),
            Avp.number(ITEMS, 1, VENDOR_3GPP),
            Avp.group(ITEM, item, VENDOR_3GPP),
        )

    def _assigned(self, request: Message) -> tuple[Avp, ...]:
        found, kind = self._of(request), request.first(ASSIGNMENT, VENDOR_3GPP)
        if isinstance(found, tuple):
            return found
        if kind is None:
            return self._refusal(MISSING, Avp.number(ASSIGNMENT, 0, VENDOR_3GPP))
        server = request.first(SERVER_NAME, VENDOR_3GPP)
        name = server.words if server is not None else found.server
        if kind.value in _REGISTERS:
            found.server, found.state = name, "registered"
        elif kind.value == _UNREGISTERED:
            found.server, found.state = name, "unregistered"
        elif kind.value in _LEAVES or (kind.value in _NOT_AUTHENTICATED and found.state == "not registered"):
            found.server, found.state = None, "not registered"
        elif kind.value in _PROFILE and name != found.server:
            return self._refusal(UNABLE)
        elif kind.value not in _PROFILE | _NOT_AUTHENTICATED:
            return self._refusal(INVALID_VALUE, kind)
        if kind.value in _WANTS_NAME_KEPT:
            return (_experimental(NAME_NOT_STORED), Avp.text(USER_NAME, found.private))
        data = _DATA.format(private=escape(found.private), public=escape(found.public))
        return (
            Avp.number(RESULT, SUCCESS),
            Avp.text(USER_NAME, found.private),
            Avp.text(USER_DATA, data, VENDOR_3GPP),
        )

    def _located(self, request: Message) -> tuple[Avp, ...]:
        found = self._of(request)
        if isinstance(found, tuple):
            return found
        if found.state == "not registered" or found.server is None:
            return self._refused(NOT_REGISTERED)
        return (Avp.number(RESULT, SUCCESS), Avp.text(SERVER_NAME, found.server, VENDOR_3GPP))

    def _refused(self, code: int) -> tuple[Avp, ...]:
        """3GPP's."""
        self.answered["refused"] += 1
        return (_experimental(code),)

    def _refusal(self, code: int, fault: Avp | None = None) -> tuple[Avp, ...]:
        """IETF's. `fault`: the attribute at fault; one that is missing with zeros in it."""
        self.answered["refused"] += 1
        failed = () if fault is None else (Avp.group(FAILED, (fault,)),)
        return (Avp.number(RESULT, code), *failed)


def _experimental(code: int) -> Avp:
    members = (Avp.number(VENDOR, VENDOR_3GPP), Avp.number(EXPERIMENTAL_CODE, code))
    return Avp.group(EXPERIMENTAL, members)


def _application() -> Avp:
    return Avp.group(VENDOR_APPLICATION, (Avp.number(VENDOR, VENDOR_3GPP), Avp.number(AUTH_APPLICATION, CX)))


def _failed_synchronization(request: Message) -> bytes:
    """What a subscriber said that has counted further: RAND, AUTS (TS 29.228, 6.3.1); empty: nothing."""
    item = request.first(ITEM, VENDOR_3GPP)
    members = item.members if item is not None else ()
    which = (AUTHORIZATION, VENDOR_3GPP)
    return next((one.data for one in members if (one.code, one.vendor) == which), b"")


def _session(request: Message) -> tuple[Avp, ...]:
    found = request.first(SESSION)
    return (found,) if found is not None else ()
