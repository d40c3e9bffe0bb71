# SPDX-License-Identifier: Apache-2.0
"""Deployments that exist only in a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir import fabric, plan
from weir.base.topology import Topology
from weir.lab import Chain, Lab


def topology(deployment: str) -> Topology:
    """A PVP chain, wired directly."""
    lab = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": "direct"})
    return plan.build_topology(lab, "direct", Chain("PVP", ("default",)), deployment)


class FakeDeployment:
    """What the command line uses of a deployment."""

    def __init__(self, deployment: str, *, readable: bool = True) -> None:
        self.id = deployment
        self.run_dir = Path("/nonexistent") / deployment
        self.topology = topology(deployment)
        self._readable = readable
        self.tuning = self.cloud = None
        self.destroyed = False
        self.has_ended: str | None = None

    def unreadable(self) -> str | None:
        return None if self._readable else "another version"

    def ended(self) -> str | None:
        return self.has_ended

    def destroy(self) -> None:
        self.destroyed = True


def deployed(monkeypatch: pytest.MonkeyPatch, *found: FakeDeployment) -> None:
    """For Weir: these, and no others."""
    monkeypatch.setattr(fabric, "deployments", lambda: list(found))
