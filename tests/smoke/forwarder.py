# SPDX-License-Identifier: Apache-2.0
"""A network function as a user may have one: what comes in at one interface leaves by the other, with the MAC
addresses that the next hop expects. `forwarder.py LEFT LEFT_MAC LEFT_HOP RIGHT RIGHT_MAC RIGHT_HOP [OPTION]`.

OPTION drop=N: every N-th frame is lost. stop=N: it ends after N frames. deaf: it ignores SIGTERM. late=S:
what comes in its first S seconds is lost. garbage=N: with every N-th frame it sends four of its own: random
bytes that may be too short or too long, the frame cut off, and the frame with random bytes in its place.
slow=N: it forwards so many frames a second, of a queue for many seconds.
"""

from __future__ import annotations

import random
import select
import signal
import socket
import sys
import time
from contextlib import suppress

ETH_P_ALL, FRAME_BYTES, MAC_BYTES = 3, 65536, 6
SO_RCVBUFFORCE = 33
ANSWER = 7


def opened(name: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
    made.bind((name, ETH_P_ALL))
    return made


def octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def throw(out: socket.socket, head: bytes, frame: bytes) -> None:
    """Garbage, from a seed of each frame's own."""
    chance = random.Random(frame)
    own = (
        chance.randbytes(chance.randint(1, 3000)),
        head + chance.randbytes(chance.randint(0, 1500)),
        head + frame[2 * MAC_BYTES : chance.randint(2 * MAC_BYTES, len(frame))],
        head + frame[2 * MAC_BYTES : 34] + chance.randbytes(len(frame) - 34),
    )
    for one in own:
        with suppress(OSError):  # shorter than a header, or longer than the interface takes
            out.send(one)


def main(words: list[str]) -> int:
    left, left_mac, left_hop, right, right_mac, right_hop, *options = words
    said = dict(one.partition("=")[::2] for one in options)
    if "deaf" in said:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sockets = {name: opened(name) for name in (left, right)}
    way = {
        sockets[left]: (sockets[right], octets(right_hop) + octets(right_mac)),
        sockets[right]: (sockets[left], octets(left_hop) + octets(left_mac)),
    }
    own = {sockets[left]: octets(left_mac), sockets[right]: octets(right_mac)}
    print("forwarding", flush=True)
    begins = time.monotonic() + float(said.get("late", 0))
    seen = 0
    while True:
        for one in select.select([*way], [], [])[0]:
            frame, (_, _, kind, *_) = one.recvfrom(FRAME_BYTES)
            if kind == socket.PACKET_OUTGOING or frame[:MAC_BYTES] != own[one]:
                continue
            seen += 1
            if "stop" in said and seen > int(said["stop"]):
                print("out of licences", flush=True)
                return ANSWER
            if time.monotonic() >= begins and ("drop" not in said or seen % int(said["drop"])):
                out, head = way[one]
                time.sleep(1 / float(said["slow"]) if "slow" in said else 0)
                out.send(head + frame[2 * MAC_BYTES :])
                if "garbage" in said and seen % int(said["garbage"]) == 0:
                    throw(out, head, frame)


sys.exit(main(sys.argv[1:]))
