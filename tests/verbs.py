# SPDX-License-Identifier: Apache-2.0
"""Verbs of weir-dp that only tests and benches ask for: single frames through functions, a run up to now,
and a new beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.protocol import DataPlaneClient
from weir.protocol.client import CONFIGURE_TIMEOUT_S
from weir.protocol.configuration import Exchange, Trace
from weir.protocol.ledger import Exchanged, Outcome, Traced
from weir.protocol.traffic_results import TrafficSoFar


def trace(
    client: DataPlaneClient, area: str, path: str, frames: Sequence[bytes], at_us: int | None = None
) -> tuple[Outcome, ...]:
    """What becomes of each frame (bytes without FCS) on that path, at that time or now."""
    request = Trace(area=area, path=path, frames=tuple(frame.hex() for frame in frames), at_us=at_us)
    return client.ask("trace", Traced, request).outcomes


def exchange(
    client: DataPlaneClient, frames: Mapping[str, Sequence[bytes]], quiet_ms: int = 0
) -> dict[str, list[bytes]]:
    """Sends frames (without FCS) at ports that no area uses; what arrived at each until all is quiet."""
    sent = {port: tuple(frame.hex() for frame in some) for port, some in frames.items()}
    arrived = client.ask("exchange", Exchanged, Exchange(frames=sent, quiet_ms=quiet_ms)).frames
    return {port: [bytes.fromhex(frame) for frame in arrived[port]] for port in frames}


def so_far(client: DataPlaneClient) -> TrafficSoFar:
    """What the run that goes on, or the last one, has counted."""
    return client.ask("traffic.so_far", TrafficSoFar)


def reset(client: DataPlaneClient) -> None:
    """Stops the loops, closes the ports and forgets the configuration."""
    client.call("reset", timeout_s=CONFIGURE_TIMEOUT_S)
