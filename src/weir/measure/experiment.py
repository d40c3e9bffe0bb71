# SPDX-License-Identifier: Apache-2.0
"""One built chain, measured: for each frame size a search, trials that confirm it, and a curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from weir.measure.events import Event
from weir.measure.tester import SutCounters, Tester, Traffic
from weir.spec.measure import Measure
from weir.store.result import Case, Ceiling

def measure_setup(
    measure: Measure,
    traffic: Sequence[Traffic],
    tester: Tester,
    counters: SutCounters,
    ceilings: Mapping[str, Ceiling],
    on_event: Callable[[Event], None],
) -> Iterator[Case]:
    """Yields one finished Case for each of `traffic`, in order; store it before asking for the next.

    The chain must be deployed and weir-dp's loops started (`configure`, `start`). `ceilings` by frame, from
    `weir.measure.calibrate.ceilings`; a frame without one is measured, and its result says so. A case that cannot
    be measured is yielded with `problem` set; only KeyboardInterrupt and the tester's own errors leave this
    function, and cases already yielded stay good. `on_event` is called from this thread, often: keep it quick.
    """
    raise NotImplementedError
