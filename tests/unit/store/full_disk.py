# SPDX-License-Identifier: Apache-2.0
"""A program: exports a store as Parquet onto ever larger file systems of its own, until all of it fits.

Called with a store and a folder, in a mount namespace of its own. Prints, as JSON, what each export said and
left.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from weir.store import listing
from weir.store.files import FileError
from weir.store.lake import write_lake
from weir.store.store import Store

PAGE_KIB = 4
BLOCKS, INODES = 200, 60
ENOUGH = {"size": "8m", "nr_inodes": "4096"}


def exported(location: str, place: Path, limit: dict[str, str]) -> dict[str, Any]:
    """With that room alone."""
    options = ",".join(f"{key}={value}" for key, value in (ENOUGH | limit).items())
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
    try:
        said = None
        with Store(location, reading=True) as store:
            try:
                write_lake(store, list(reversed(listing.runs(store))), place / "lake")
            except FileError as error:
                said = str(error)
        left = sorted(place.rglob("*"))
        return {
            "said": said,
            "files": [str(one.relative_to(place)) for one in left if one.is_file()],
            "empty": [str(one.relative_to(place)) for one in left if one.is_dir() and not any(one.iterdir())],
        }
    finally:
        subprocess.run(["umount", place], check=True)


def main(location: str, place: Path) -> None:
    found = []
    for limits in (
        [{"size": f"{blocks * PAGE_KIB}k"} for blocks in range(2, BLOCKS)],
        [{"nr_inodes": str(inodes)} for inodes in range(2, INODES)],
    ):
        for limit in limits:
            found.append(exported(location, place, limit))
            if found[-1]["said"] is None:
                break
    print(json.dumps(found))


main(sys.argv[1], Path(sys.argv[2]))
