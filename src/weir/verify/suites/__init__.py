# SPDX-License-Identifier: Apache-2.0
"""The suites, by name."""

from __future__ import annotations

from collections.abc import Mapping

from weir.lab.sut import SuiteName
from weir.verify.case import Suite
from weir.verify.suites import application, healthcheck, performance, sanity

SUITES: Mapping[SuiteName, Suite] = {
    "healthcheck": healthcheck.SUITE,
    "sanity": sanity.SUITE,
    "performance": performance.SUITE,
    "application": application.SUITE,
}
