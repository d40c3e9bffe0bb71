# SPDX-License-Identifier: Apache-2.0
"""Syntax trees of the source, each parsed once a process: contracts ask many things of each file."""

from __future__ import annotations

import ast
import functools
from pathlib import Path


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Not to be changed. SyntaxError, OSError."""
    return ast.parse(path.read_text(encoding="utf-8"))
