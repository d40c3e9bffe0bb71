#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small SMF: sets PDU sessions up at a UPF by N4 (PFCP, 3GPP TS 29.244), and again whenever the UPF is new.

Sessions are in a row: UE n has the n-th address, and the n-th TEID at the gNB. Ends with Ctrl-C or SIGTERM;
the UPF keeps what is there. Needs the standard library alone.
"""

from __future__ import annotations

import argparse
import ipaddress
import secrets
import signal
import socket
import struct
import time

PORT = 8805
ANSWER_S, HEARTBEAT_S = 1.0, 0.5
WINDOW = 64
"""Requests that are under way at a time."""
UNIX_EPOCH_SINCE_1900_S = 2_208_988_800
ACCEPTED = 1
HEARTBEAT, ASSOCIATION_SETUP, ESTABLISHMENT = 1, 5, 50
"""Message types: TS 29.244, table 7.3-1. Each response is the next number."""
CREATE_PDR, PDI, CREATE_FAR, FORWARDING_PARAMETERS, CAUSE, SOURCE_INTERFACE, F_TEID = 1, 2, 3, 4, 19, 20, 21
PRECEDENCE, DESTINATION_INTERFACE, APPLY_ACTION, PDR_ID, F_SEID, NODE_ID = 29, 42, 44, 56, 57, 60
OUTER_HEADER_CREATION, UE_IP_ADDRESS, OUTER_HEADER_REMOVAL, RECOVERY_TIME_STAMP, FAR_ID = 84, 93, 95, 96, 108
"""Types of information elements: table 8.1.2-1."""
ACCESS, CORE = b"\x00", b"\x01"
FORWARD, IPV4, CHOOSE_IPV4, DESTINATION_IPV4, GTPU_UDP_IPV4 = b"\x02", b"\x01", b"\x05", b"\x06", b"\x01\x00"


class GoneError(Exception):
    """The UPF does not answer."""


def element(kind: int, *value: bytes) -> bytes:
    """One information element; a group of others, where these are given."""
    whole = b"".join(value)
    return struct.pack(">HH", kind, len(whole)) + whole


def rules(ue: bytes, tunnel_here: bytes, gnb: bytes, gnb_teid: int) -> bytes:
    """Uplink out of the UPF's tunnel, which is an F-TEID's value, and downlink into the gNB's."""
    up, down = struct.pack(">H", 1), struct.pack(">H", 2)
    far_up, far_down = (element(FAR_ID, struct.pack(">I", number)) for number in (1, 2))
    precedence = element(PRECEDENCE, struct.pack(">I", 100))
    tunnel = element(OUTER_HEADER_CREATION, GTPU_UDP_IPV4, struct.pack(">I", gnb_teid), gnb)
    return b"".join(
        (
            element(
                CREATE_PDR,
                element(PDR_ID, up),
                precedence,
                element(PDI, element(SOURCE_INTERFACE, ACCESS), element(F_TEID, tunnel_here)),
                element(OUTER_HEADER_REMOVAL, b"\x00"),
                far_up,
            ),
            element(
                CREATE_PDR,
                element(PDR_ID, down),
                precedence,
                element(PDI, element(SOURCE_INTERFACE, CORE), element(UE_IP_ADDRESS, DESTINATION_IPV4, ue)),
                far_down,
            ),
            element(
                CREATE_FAR,
                far_up,
                element(APPLY_ACTION, FORWARD),
                element(FORWARDING_PARAMETERS, element(DESTINATION_INTERFACE, CORE)),
            ),
            element(
                CREATE_FAR,
                far_down,
                element(APPLY_ACTION, FORWARD),
                element(FORWARDING_PARAMETERS, element(DESTINATION_INTERFACE, ACCESS), tunnel),
            ),
        )
    )


def f_teid(number: int, asked: argparse.Namespace) -> bytes:
    """Of this session at the UPF: for the UPF to choose, or given."""
    if asked.upf_teid_first is None:
        return CHOOSE_IPV4
    address: bytes = asked.upf_n3_address.packed
    return IPV4 + struct.pack(">I", asked.upf_teid_first + number) + address


class Smf:
    """One control plane function, and the UPF that it controls."""

    def __init__(self, own: str, upf: str) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((own, PORT))
        self._socket.connect((upf, PORT))
        self._socket.settimeout(ANSWER_S)
        self._own = ipaddress.IPv4Address(own).packed
        # A UPF answers a number that it had before with the response that it gave before.
        self._sequence = secrets.randbits(23)
        self._recovery = struct.pack(">I", int(time.time()) + UNIX_EPOCH_SINCE_1900_S)

    def associate(self) -> None:
        """Association setup; sessions of one before are gone."""
        node = element(NODE_ID, b"\x00", self._own)
        self._ask(self._numbered(ASSOCIATION_SETUP, node + element(RECOVERY_TIME_STAMP, self._recovery)))

    def heartbeat(self) -> bytes:
        """When the UPF began."""
        answer = self._ask(self._numbered(HEARTBEAT, element(RECOVERY_TIME_STAMP, self._recovery)))
        return elements(answer)[RECOVERY_TIME_STAMP]

    def establish(self, ues: range, asked: argparse.Namespace) -> dict[int, int]:
        """Sessions of these UEs, by their numbers; how many answers had each cause."""
        waiting = {}
        for number in ues:
            body = element(NODE_ID, b"\x00", self._own)
            body += element(F_SEID, b"\x02", struct.pack(">Q", number + 1), self._own)
            ue, gnb = (asked.ue_first_address + number).packed, asked.gnb_address.packed
            body += rules(ue, f_teid(number, asked), gnb, asked.gnb_teid_first + number)
            message = self._numbered(ESTABLISHMENT, body, seid=0)
            waiting[message[12:15]] = message
        causes: dict[int, int] = {}
        for message in waiting.values():
            self._send(message)
        while waiting:
            answer = self._receive()
            if answer[1] == ESTABLISHMENT + 1 and waiting.pop(answer[12:15], None) is not None:
                cause = elements(answer)[CAUSE][0]
                causes[cause] = causes.get(cause, 0) + 1
        return causes

    def _numbered(self, kind: int, body: bytes, seid: int | None = None) -> bytes:
        self._sequence = (self._sequence + 1) % (1 << 24)
        rest = (b"" if seid is None else struct.pack(">Q", seid)) + struct.pack(">I", self._sequence << 8)
        return struct.pack(">BBH", 0x20 | (seid is not None), kind, len(rest + body)) + rest + body

    def _ask(self, message: bytes) -> bytes:
        self._send(message)
        while True:
            answer = self._receive()
            if answer[1] == message[1] + 1 and answer[4:7] == message[4:7]:
                return answer

    def _send(self, message: bytes) -> None:
        try:
            self._socket.send(message)
        except OSError as error:
            raise GoneError from error

    def _receive(self) -> bytes:
        try:
            answer = self._socket.recv(4096)
        except OSError as error:  # none in time, or nobody is at that port
            raise GoneError from error
        if len(answer) < 16:
            raise GoneError
        return answer


def elements(message: bytes) -> dict[int, bytes]:
    """Those of a message, not in its groups."""
    at = 16 if message[0] & 1 else 8
    found: dict[int, bytes] = {}
    while at + 4 <= len(message):
        kind, length = struct.unpack_from(">HH", message, at)
        found[kind] = message[at + 4 : at + 4 + length]
        at += 4 + length
    return found


def served(smf: Smf, asked: argparse.Namespace) -> None:
    """Sets everything up, and sees that the UPF stays the same. GoneError when it is another one, or none."""
    smf.associate()
    began = time.monotonic()
    causes: dict[int, int] = {}
    recovery = smf.heartbeat()
    for first in range(0, asked.sessions, WINDOW):
        ues = range(first, min(first + WINDOW, asked.sessions))
        for cause, count in smf.establish(ues, asked).items():
            causes[cause] = causes.get(cause, 0) + count
    refused = "".join(f", {n} refused by cause {cause}" for cause, n in causes.items() if cause != ACCEPTED)
    print(f"{causes.get(ACCEPTED, 0)} sessions in {time.monotonic() - began:.3f} s{refused}", flush=True)
    while not asked.once and smf.heartbeat() == recovery:
        time.sleep(HEARTBEAT_S)


def main() -> None:
    """Until it is ended."""
    parser = argparse.ArgumentParser(
        description="Sets PDU sessions up at a UPF by N4, for as long as it runs."
    )
    address = ipaddress.IPv4Address
    parser.add_argument("--upf", default="127.0.0.5", help="n4_address of the upf (%(default)s)")
    parser.add_argument("--address", default="127.0.0.6", help="its own (%(default)s)")
    parser.add_argument("--sessions", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--ue-first-address", type=address, default=address("10.45.0.1"))
    parser.add_argument("--gnb-address", type=address, default=address("192.0.2.2"))
    parser.add_argument("--gnb-teid-first", type=int, default=1)
    parser.add_argument(
        "--upf-teid-first", type=int, help="its TEIDs are these, from this on (absent: it chooses)"
    )
    parser.add_argument(
        "--upf-n3-address", type=address, default=address("192.0.2.1"), help="with them (%(default)s)"
    )
    parser.add_argument("--once", action="store_true", help="ends when all sessions stand")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    smf = Smf(asked.address, asked.upf)
    try:
        while True:
            try:
                served(smf, asked)
                if asked.once:
                    return
            except GoneError:
                time.sleep(HEARTBEAT_S / 5)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
