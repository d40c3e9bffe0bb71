# SPDX-License-Identifier: Apache-2.0
"""The command `weir` of this source, for tests that run it in a process of its own."""

from __future__ import annotations

import sys

WEIR = (sys.executable, "-c", "from weir.cli.start import main; main()")
"""Its first words; the command and its options follow."""
