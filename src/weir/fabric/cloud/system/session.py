# SPDX-License-Identifier: Apache-2.0
"""A shell in an instance's system that stays logged in, by SSH: what is asked again and again, around each
trial, costs no new log-in."""

from __future__ import annotations

import os
import re
import secrets
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from weir.base.error import FabricError
from weir.fabric import markers, process
from weir.fabric.cloud.system import ssh

_MOST_BYTES = 1 << 16
"""Of one answer: a server may say what it likes."""
_END_S = 5.0


class Session:
    """As that user at an address, asked from where this process is. It ends with this process."""

    def __init__(self, to: str, *, user: str, private_key: Path, marker: str) -> None:
        self._to = to
        self._shell = subprocess.Popen(
            ssh.words(to, "sh", private_key, user),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ssh.ENVIRONMENT | {markers.MARKER: marker},
            start_new_session=True,
            preexec_fn=process.ends_with_maker(),  # noqa: PLW1509 - Weir has no threads here
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def said(self, command: str, within_s: float) -> str:
        """What a command says on its standard output. FabricError where it fails, says too much, or has not
        ended in time: then nothing more can be asked."""
        end = f"weir-{secrets.token_hex(8)}"
        assert self._shell.stdin is not None
        try:
            self._shell.stdin.write(f"{{ {command}\n}} </dev/null\necho {end} $?\n".encode())
            self._shell.stdin.flush()
        except OSError as error:
            raise FabricError(f"the session by SSH at {self._to} has ended") from error
        answer, code = self._until(end, command, time.monotonic() + within_s)
        if code != 0:
            raise FabricError(f"`{command}` by SSH at {self._to}: exit code {code}")
        return answer

    def _until(self, end: str, command: str, deadline_s: float) -> tuple[str, int]:
        """What comes before that word, and the number behind it."""
        assert self._shell.stdout is not None
        said, number = b"", self._shell.stdout.fileno()
        ends = re.compile(rf"{end} (\d+)\n\Z".encode())
        while (found := ends.search(said)) is None:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([number], [], [], left_s)[0]:
                raise FabricError(f"`{command}` by SSH at {self._to} has not ended in time")
            piece = os.read(number, _MOST_BYTES)
            if not piece:
                raise FabricError(f"the session by SSH at {self._to} has ended")
            said += piece
            if len(said) > _MOST_BYTES:
                raise FabricError(f"`{command}` by SSH at {self._to} says more than {_MOST_BYTES} bytes")
        return said[: found.start()].decode(errors="replace"), int(found[1])

    def close(self) -> None:
        """Logs out."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        with suppress(OSError):
            self._shell.stdin.close()
        try:
            self._shell.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._shell.kill()
            self._shell.wait()
        self._shell.stdout.close()
