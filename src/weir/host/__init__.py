# SPDX-License-Identifier: Apache-2.0
"""What a machine is, as facts, and what that means for packets, as findings. Pure: `fabric.host` reads."""

from __future__ import annotations

from weir.host.checks import diagnose
from weir.host.diagnosis import Diagnosis, Finding
from weir.host.facts import Facts

__all__ = ["Diagnosis", "Facts", "Finding", "diagnose"]
