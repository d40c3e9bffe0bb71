# SPDX-License-Identifier: Apache-2.0
"""Who may register, and what the subscriber server knows of each."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from weir.ims.milenage import Milenage, Vector, synchronized, vector

FIELDS = ("private", "public", "key", "op", "amf")
_SQN_END = 1 << 48
_SQN_STEP = 1 << 5
"""Its last five bits are an index, of which one is used (3GPP TS 33.102, annex C)."""


RegistrationState = Literal["not registered", "unregistered", "registered"]
"""TS 29.228, 3.1. The second: nobody has registered, and yet an S-CSCF serves calls of that identity."""


@dataclass
class Subscriber:
    """`private`: "1001@ims.test"; `public`: "sip:1001@ims.test"; `amf`: 2 bytes."""

    private: str
    public: str
    milenage: Milenage
    amf: bytes
    sqn: int = 0
    server: str | None = None
    """URI of the S-CSCF that serves it, since a vector was asked for."""
    state: RegistrationState = "not registered"

    def vector(self, rand: Callable[[], bytes]) -> Vector:
        """The next one. `rand`: gives 16 bytes; asked again while the response would have a zero byte, at
        which SIPp 3.6 ends it."""
        self.sqn = (self.sqn + _SQN_STEP) % _SQN_END
        while True:
            made = vector(self.milenage, rand(), self.sqn, self.amf)
            if 0 not in made.xres:
                return made

    def synchronize(self, rand: bytes, auts: bytes) -> None:
        """Counts on from where the subscriber is, if it was it that said so, and it is ahead; else as before
        (TS 33.102, 6.3.5)."""
        number = synchronized(self.milenage, rand, auts)
        if number is not None:
            self.sqn = max(self.sqn, number)


def read(text: str) -> list[Subscriber]:
    """From CSV with FIELDS as its first line, numbers in hex. ValueError if it is no such."""
    rows = csv.DictReader(StringIO(text))
    if tuple(rows.fieldnames or ()) != FIELDS:
        raise ValueError(f"the file of subscribers has the fields {rows.fieldnames}, expected {list(FIELDS)}")
    return [
        Subscriber(
            row["private"],
            row["public"],
            Milenage.of(bytes.fromhex(row["key"]), bytes.fromhex(row["op"])),
            bytes.fromhex(row["amf"]),
        )
        for row in rows
    ]


def written(rows: Iterable[tuple[str, str, str, str, str]]) -> str:
    """The same, of the fields in their order."""
    return "".join(",".join(row) + "\n" for row in (FIELDS, *rows))
