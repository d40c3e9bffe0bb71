# SPDX-License-Identifier: Apache-2.0
"""How long an answer of a cloud may be: who answers for ever does not fill this machine's memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keystoneauth1.session import TCPKeepAliveAdapter
from requests.exceptions import ContentDecodingError

ANSWER_BYTES_MAX = 64 << 20
"""A list of 100,000 servers has less."""


class BoundedAnswers(TCPKeepAliveAdapter):  # type: ignore[misc] # keystoneauth1 has no types
    """Requests whose answers end with an error once they are longer."""

    def build_response(self, req: Any, resp: Any) -> Any:
        """The answer's body is counted as it is read, after what unpacks it."""
        resp.stream = _counted(resp.stream)
        return super().build_response(req, resp)


def _counted(stream: Any) -> Any:
    def read(*words: Any, **options: Any) -> Iterator[bytes]:
        size = 0
        for piece in stream(*words, **options):
            size += len(piece)
            if size > ANSWER_BYTES_MAX:
                raise ContentDecodingError(f"its answer is longer than {ANSWER_BYTES_MAX >> 20} MiB")
            yield piece

    return read


def bound(session: Any) -> None:
    """All that this session of keystoneauth1 asks from now on."""
    for scheme in ("http://", "https://"):
        session.session.mount(scheme, BoundedAnswers())
