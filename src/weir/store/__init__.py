# SPDX-License-Identifier: Apache-2.0
"""Results: their shape (`weir.store.result`) and the database that keeps them."""

from __future__ import annotations

from weir.store.database import StoreError, UnknownRunError, default_location
from weir.store.fingerprint import differences
from weir.store.store import RunSummary, Store

__all__ = ["RunSummary", "Store", "StoreError", "UnknownRunError", "default_location", "differences"]
