# SPDX-License-Identifier: Apache-2.0
"""The procedures of RFC 2544 section 26, RFC 6201 and RFC 9004, each a composition of Weir's trials."""

from __future__ import annotations

from weir.measure.rfc2544.duration import expected_s
from weir.measure.rfc2544.reset import NOTHING
from weir.measure.rfc2544.setup import measure_rfc2544

__all__ = ["NOTHING", "expected_s", "measure_rfc2544"]
