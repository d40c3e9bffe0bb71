# SPDX-License-Identifier: Apache-2.0
"""The cost model of a machine and its functions: pure mathematics, and its document."""

from __future__ import annotations
