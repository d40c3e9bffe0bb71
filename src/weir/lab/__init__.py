# SPDX-License-Identifier: Apache-2.0
"""What a user may write: the lab file, checked before anything is touched, and the topology behind it."""

from __future__ import annotations

from weir.lab.function import FunctionOptions
from weir.lab.lab import Chain, Lab
from weir.lab.load import load_lab
from weir.lab.problem import LabFileError, Problem

__all__ = ["Chain", "FunctionOptions", "Lab", "LabFileError", "Problem", "load_lab"]
