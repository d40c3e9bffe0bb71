# SPDX-License-Identifier: Apache-2.0
"""What `weir lean` compares a chain with, and how its detector is tried."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from weir.cli.exits import USAGE, CommandError
from weir.procedures.lean.outside_command import say

if TYPE_CHECKING:
    from weir.plan.lean import LeanChain
    from weir.procedures.lean.run import Program
    from weir.results.lean import LeanResult


def check_injected(text: str | None, chain: LeanChain) -> None:
    """STAGE=PERCENT of that chain. CommandError says what was expected."""
    if text is None:
        return
    stage, _, percent = text.partition("=")
    known = list(dict.fromkeys(name for one in chain.stages for name in (one.name, one.nf)))
    try:
        fits = stage in known and 0 <= float(percent) < math.inf
    except ValueError:
        fits = False
    if not fits:
        raise CommandError(
            f"--inject {text}: expected STAGE=PERCENT, of {', '.join(known)}, such as {known[0]}=5", USAGE
        )


def before(baseline: str) -> LeanResult | Program:
    """What a chain is compared with: an earlier result, or an earlier weir-lean, which is built."""
    from weir.procedures.lean.run import earlier_program

    if Path(baseline).is_file():
        return stored(Path(baseline))
    say(f"building {baseline}, if it was not before")
    return earlier_program(baseline)


def stored(path: Path) -> LeanResult:
    """Of a file. CommandError: it is none."""
    from pydantic import ValidationError

    from weir.base.read_file import read_bytes
    from weir.base.record import fault_text
    from weir.results.document import NewerDocumentError
    from weir.results.lean import LeanResult

    try:
        return LeanResult.read(read_bytes(path))
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}; expected a result of `weir lean --json`", USAGE
        ) from None
    except NewerDocumentError as error:
        raise CommandError(f"{path}: {error}", USAGE) from None
    except ValidationError as error:
        what = f"{path} is no result of `weir lean --json`: {fault_text(error)}"
        raise CommandError(what, USAGE) from None
