# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.nf_description`: writes what the built weir-dp says of its functions to src/weir/lab.
Part of `make generate`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WEIR_DP = ROOT / "build" / "native" / "weir-dp"
COMMITTED = ROOT / "src" / "weir" / "lab" / "nf.json"


def described(program: Path = WEIR_DP) -> dict[str, Any]:
    """The network functions of a built weir-dp, as `--describe` prints them; what is null is left out."""
    printed = subprocess.run([program, "--describe"], capture_output=True, text=True, check=True).stdout
    nfs = json.loads(printed)["nfs"]
    for nf in nfs:
        if nf["stand_in"] is None:
            del nf["stand_in"]
        nf["options"] = _without_null(nf["options"])
        for command in nf["commands"]:
            command["arguments"] = _without_null(command["arguments"])
    return {"nfs": nfs}


def _without_null(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in option.items() if value is not None} for option in options]


def main() -> int:
    """Exit code: 0 done, 1 there is no weir-dp, or one that lacks functions."""
    if not WEIR_DP.exists():
        print(f"{WEIR_DP} is missing: run 'make native'", file=sys.stderr)
        return 1
    found = described()
    built = {nf["name"] for nf in found["nfs"]}
    known = {nf["name"] for nf in json.loads(COMMITTED.read_text(encoding="utf-8"))["nfs"]}
    lacking = sorted(name for name in known - built if (ROOT / "native" / "nf" / name).is_dir())
    if lacking:
        print(
            f"weir-dp was built without {', '.join(lacking)}: install what it needs, and build anew",
            file=sys.stderr,
        )
        return 1
    COMMITTED.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
