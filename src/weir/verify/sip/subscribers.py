# SPDX-License-Identifier: Apache-2.0
"""Who calls and who is called: made-up subscribers, as SIPp and the subscriber server are told of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from weir.ims import subscribers as known
from weir.lab.application import Variant

REALM = "ims.test"
PASSWORD = "weir"
"""Of all of them, where there is no AKA."""
AMF = "8000"
_FIRST = 1001
_KEY_CHARACTERS = 16
_OP = "operatorvariant0"


def key_of(user: int) -> str:
    """16 characters: its bytes are the key. SIPp 3.6 reads keys as text, and stops at a zero or a bracket."""
    return hashlib.sha256(f"weir {user}".encode()).hexdigest()[:_KEY_CHARACTERS]


@dataclass(frozen=True)
class Subscribers:
    """`count` of them, the first of each pair a caller, the second its callee."""

    count: int
    variant: Variant

    def _users(self) -> range:
        return range(_FIRST, _FIRST + self.count)

    def callers(self) -> str:
        """For SIPp: who calls, by what it is known, whom."""
        return self._injected(_FIRST)

    def callees(self) -> str:
        """Likewise who is called."""
        return self._injected(_FIRST + 1)

    def _injected(self, first: int) -> str:
        users = range(first, _FIRST + self.count, 2)
        lines = [f"{user};{self._credentials(user)};{user + 1};" for user in users]
        return "\n".join(("SEQUENTIAL", *lines)) + "\n"

    def _credentials(self, user: int) -> str:
        """As SIPp makes its answer to a challenge of it."""
        if self.variant == "proxy":
            return f"[authentication username={user} password={PASSWORD}]"
        return f"[authentication username={user}@{REALM} aka_K={key_of(user)} aka_OP={_OP} aka_AMF=0x{AMF}]"

    def server_file(self) -> str:
        """For the subscriber server."""
        return known.written(self._rows())

    def _rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        for user in self._users():
            name = f"{user}@{REALM}"
            yield name, f"sip:{name}", key_of(user).encode().hex(), _OP.encode().hex(), AMF
