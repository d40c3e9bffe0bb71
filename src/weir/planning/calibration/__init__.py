# SPDX-License-Identifier: Apache-2.0
"""Set-ups that are measured: to make the cost model, and to hold it against what it was not made of."""

from __future__ import annotations
