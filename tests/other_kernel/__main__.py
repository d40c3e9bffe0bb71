# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.other_kernel COMMAND…`: runs it under Debian's kernel, emulated, and says what it said."""

from __future__ import annotations

import sys

from .machine import run

_LIMIT_S = 1800.0

found = run(sys.argv[1:], _LIMIT_S)
print(found.said, end="")
sys.exit(found.code)
