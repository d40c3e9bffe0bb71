# SPDX-License-Identifier: Apache-2.0
"""Soaks: constant load for hours, looked at every interval, gone on with after an interruption."""

from __future__ import annotations

from weir.measure.soak.recorder import Recorder
from weir.measure.soak.snapshot import Snapshot

__all__ = ["Recorder", "Snapshot"]
