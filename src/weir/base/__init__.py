# SPDX-License-Identifier: Apache-2.0
"""Shapes that labs, technologies, plans and the fabric share: topology, cores, steps. Knows no other part."""

from __future__ import annotations

from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[3]
"""Where Weir was installed from: with its history, native build and tools."""
