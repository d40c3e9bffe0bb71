# SPDX-License-Identifier: Apache-2.0
"""How the result of a run of a single case gets into the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from weir.fabric import stop_signals
from weir.lab.frames import mean_frame_bytes
from weir.procedures.driver import take_down_leftovers
from weir.procedures.stored_result import now
from weir.results.result import Case, Result, Setup
from weir.store.store import Store


@dataclass(frozen=True)
class StoredCase:
    """What the run fills in."""

    store: Store
    result: Result
    setup: Setup
    case: Case
    place: int
    """The setup's, as the store gave it."""

    @classmethod
    def begun(
        cls, store: Store, result: Result, *, technology: str, variant: str | None, chain: str, frame: str
    ) -> StoredCase:
        """Of a run that the store does not know yet; its case is stored when it is measured."""
        setup = Setup(technology=technology, variant=variant, chain=chain, datapath="none")
        case = Case(frame=frame, mean_frame_bytes=mean_frame_bytes(frame))
        store.begin(result)
        place = store.add_setup(result.id, setup)
        result.setups.append(setup)
        setup.cases.append(case)
        return cls(store, result, setup, case, place)

    @contextmanager
    def measured(self, say: Callable[[str], None]) -> Iterator[None]:
        """The body measures; however it ends, what is there is stored then. Ctrl-C ends it, and is marked.

        What a killed run had left is taken down first.
        """
        began = time.monotonic()
        with stop_signals.held():
            take_down_leftovers(say)
            try:
                yield
            except KeyboardInterrupt:
                self.result.interrupted = True
                stop_signals.discard()
            finally:
                self.result.seconds = round(self.result.seconds + time.monotonic() - began, 1)
                self.result.finished_at = now()
                self.store.update_setup(self.place, self.setup)
                self.store.add_case(self.place, self.case)
                self.store.update(self.result)
