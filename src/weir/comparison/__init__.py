# SPDX-License-Identifier: Apache-2.0
"""Runs against runs: which rates and delays changed, and whether chance explains it. From results alone."""

from weir.comparison.changes import compare, compare_several

__all__ = ["compare", "compare_several"]
