# SPDX-License-Identifier: Apache-2.0
"""Pure mathematics: no file, no process, no clock."""

from __future__ import annotations
