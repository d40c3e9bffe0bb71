# SPDX-License-Identifier: Apache-2.0
"""What limits a measured chain, with its evidence, and what to do about it. Reads results only."""

from __future__ import annotations

from weir.explain.whole import Wanted, explain, explain_case
from weir.results.explanation import CaseExplanation, Explanation

__all__ = ["CaseExplanation", "Explanation", "Wanted", "explain", "explain_case"]
