# SPDX-License-Identifier: Apache-2.0
"""`none`: instances are ports of br-int, which forwards what comes."""

from __future__ import annotations

from weir.plan.cloud.security.kind import SecurityKind

KIND = SecurityKind(
    sentence="Nothing filters: any tenant may send what it likes.", at_integration=lambda port: port.tap
)
