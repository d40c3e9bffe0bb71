# SPDX-License-Identifier: Apache-2.0
"""The kinds of routers that tenants can have, by name."""

from __future__ import annotations

from collections.abc import Mapping

from weir.base.cloud import Router
from weir.plan.cloud.routers import linux, weir_dp
from weir.plan.cloud.routers.kind import RouterKind

ROUTERS: Mapping[Router, RouterKind] = {"linux": linux.KIND, "weir": weir_dp.KIND}
