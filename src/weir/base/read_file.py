# SPDX-License-Identifier: Apache-2.0
"""Files that users name are read as far as such a file may go: a device has no end."""

from __future__ import annotations

import errno
from pathlib import Path

DOCUMENT_BYTES_MAX = 1 << 28
"""Of a result or a model, which may hold thousands of trials."""
TABLE_BYTES_MAX = 1 << 26
"""Of rules or points: a million lines and more."""


def read_bytes(path: Path, bytes_max: int = DOCUMENT_BYTES_MAX) -> bytes:
    """The whole file. OSError, of one that is larger, too."""
    with path.open("rb") as file:
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"is larger than {bytes_max >> 20} MiB", str(path))
    return content


def read_text(path: Path, bytes_max: int = TABLE_BYTES_MAX) -> str:
    """The same of UTF-8. UnicodeDecodeError, too."""
    return read_bytes(path, bytes_max).decode("utf-8")
