# SPDX-License-Identifier: Apache-2.0
"""`weir --version`: of the Python part, and of the native programs that it would start."""

from __future__ import annotations

import platform
from collections.abc import Iterator


def lines() -> Iterator[str]:
    """A line a program. Of one that is not there, why."""
    from weir.base.error import FabricError
    from weir.fabric.built import NATIVE, built, native_version
    from weir.fabric.fingerprint import weir_version

    yield f"weir {weir_version()} (Python {platform.python_version()})"
    for program in NATIVE:
        try:
            yield f"{native_version(program)}, {built(program)}"
        except FabricError as error:
            yield f"{program}: {error}"
