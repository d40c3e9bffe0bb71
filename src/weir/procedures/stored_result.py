# SPDX-License-Identifier: Apache-2.0
"""The result of a run that begins now, and how one of a single case gets into the store."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from weir import __version__, fabric
from weir.base.record import spec_sha256
from weir.fabric import stop_signals
from weir.lab import Lab
from weir.lab.frames import mean_frame_bytes
from weir.procedures.driver import take_down_leftovers
from weir.results.result import Case, Result, Setup
from weir.store.store import Store

if TYPE_CHECKING:
    from weir.lab.tenants import TenantsFile


def new_result(lab: Lab | TenantsFile, *, quick: bool, baseline: str, kind: str = "") -> Result:
    """Of a run that begins now, without setups. `kind` follows the lab's name in its id, such as "-soak"."""
    spec = lab.model_dump(mode="json")
    began = datetime.now(UTC)
    return Result(
        weir=__version__,
        id=f"{lab.name}{kind}-{began:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        lab=lab.name,
        title=lab.title or lab.name,
        quick=quick,
        spec_sha256=spec_sha256(lab),
        seed=lab.measure.seed,
        started_at=began.isoformat(timespec="seconds"),
        baseline=baseline,
        fingerprint=fabric.fingerprint(0, "unknown", {}),
        spec=spec,
    )


def stored_lab(result: Result) -> Lab:
    """The lab of a stored run, as it was resolved then."""
    return Lab.model_validate_json(json.dumps(result.spec), by_name=True, by_alias=True)


def seconds_before(store: Store, lab: Lab | TenantsFile) -> Sequence[float]:
    """What the newest runs of that lab, whole ones, took on this machine; none where there were none."""
    here = fabric.fingerprint(0, "unknown", {})
    return store.seconds_of(spec_sha256(lab), here.cpu, here.cores)


class Progress(Protocol):
    """Whoever shows where a run is."""

    def say(self, text: str) -> None: ...
    def setup(self, name: str) -> None: ...


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
    def begun(cls, store: Store, result: Result, *, technology: str, chain: str, frame: str) -> StoredCase:
        """Of a run that the store does not know yet; its case is stored when it is measured."""
        setup = Setup(technology=technology, chain=chain, datapath="none")
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
                self.result.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
                self.store.update_setup(self.place, self.setup)
                self.store.add_case(self.place, self.case)
                self.store.update(self.result)
