# SPDX-License-Identifier: Apache-2.0
"""What limits a measured chain, with its evidence, and what to do about it. Reads results only."""

from __future__ import annotations

from weir.explain.explanation import CaseExplanation, Explanation
from weir.explain.whole import Wanted, explain, explain_case

__all__ = ["CaseExplanation", "Explanation", "Wanted", "explain", "explain_case"]
