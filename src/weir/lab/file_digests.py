# SPDX-License-Identifier: Apache-2.0
"""What files that a lab names have in them: a lab with the same keys and other rules is another lab."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from weir.lab.files import named_files
from weir.lab.lab import Lab
from weir.lab.ways import ways

WHOLE_BYTES = 64 << 20
"""Of larger ones, such as images and captures, the first and the last half of so many count, and the size:
a run should not begin with minutes of reading."""


def digests(lab: Lab) -> dict[str, str]:
    """SHA-256 by path, of the lab and its variants with whole paths. Without those that cannot be read."""
    found = {}
    for path in _each(lab):
        try:
            found[str(path)] = digest(path)
        except OSError:
            continue
    return found


def changed_captures(lab: Lab, was: Mapping[str, str]) -> list[str]:
    """Captures that the lab sends, and that have something else in them than when these digests were made.
    One that is gone is not among them."""
    capture = lab.traffic.capture
    paths = [Path(one.file) for one in (capture.files().values() if capture is not None else ())]
    return [str(one) for one in paths if one.is_file() and was.get(str(one), now := digest(one)) != now]


def digest(path: Path) -> str:
    """Of one. OSError."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if size <= WHOLE_BYTES:
            return hashlib.file_digest(file, "sha256").hexdigest()
        of = hashlib.sha256(str(size).encode())
        of.update(file.read(WHOLE_BYTES // 2))
        file.seek(size - WHOLE_BYTES // 2)
        of.update(file.read())
        return of.hexdigest()


def _each(lab: Lab) -> Iterator[Path]:
    every = [lab, *(way.lab for way in ways(lab))] if lab.variants else [lab]
    yield from dict.fromkeys(
        path for one in every for _, path in named_files(one, Path("/")) if path.is_file()
    )
