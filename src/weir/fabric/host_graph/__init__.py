# SPDX-License-Identifier: Apache-2.0
"""Reads the network of a host as it is. Changes nothing; without root it sees its own namespace, and says
what it could not see."""

from __future__ import annotations

from weir.fabric.host_graph.reading import read

__all__ = ["read"]
