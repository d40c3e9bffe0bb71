# SPDX-License-Identifier: Apache-2.0
"""Pure mathematics: no process, no clock, and no file but the published tables beside the code."""

from __future__ import annotations
