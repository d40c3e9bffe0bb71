# SPDX-License-Identifier: Apache-2.0
"""Deployments: steps done in order, each journalled first; undone in reverse, from the journal alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.base.step import StepKind
from weir.base.topology import Topology
from weir.fabric import lifeline, stop_signals
from weir.fabric.core_claim import GOING_S, CoreClaim, remove_free_locks
from weir.fabric.journal import SUFFIX, Entry, Journal, journals, root
from weir.fabric.lock import LOCK_SUFFIX, Lock
from weir.fabric.outside.watch import taking_part
from weir.fabric.own_folder import remove_folders_left
from weir.fabric.run_directories import forget_unused
from weir.fabric.site import Facts, Site
from weir.fabric.standing_deployment import StandingDeployment
from weir.fabric.step_handlers import Logging, Output, Speaking, step_handler
from weir.plan import Step, Tuning

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology

# A killed weir's child holds the lock from fork to exec, when its marker begins to show: worth waiting for.
EXEC_S = 2.0
_PAUSE_S = 0.01
OUTPUT_BYTES_MAX = 1 << 20
"""Of what a program has said; of more than that the end."""


class NotGoneError(FabricError):
    """Something of it stays. Its context is what it was taken down for, if that was an error or Ctrl-C."""


@dataclass(frozen=True)
class Event:
    """Progress. `doing`: journalled, not begun. `done`: made. `recorded`: made, and journalled as made.

    `undoing`, `undone`, `forgotten` likewise on the way back.
    """

    step: Step
    state: Literal["doing", "done", "recorded", "undoing", "undone", "forgotten"]


OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The default for on_event."""


class Deployment(StandingDeployment):
    """Built, changed and taken down; and looked at, as what it inherits says."""

    def __init__(self, journal: Journal, claim: CoreClaim | None = None) -> None:
        super().__init__(journal)
        self._claim = claim or CoreClaim()
        self.outputs: dict[str, Output] = {}
        """What programs of the user's said, by function, once it is down."""

    @classmethod
    def deploy(
        cls,
        steps: list[Step],
        about: Topology | Tuning | CloudTopology,
        on_event: OnEvent = ignore,
        *,
        shares_cores: bool = False,
    ) -> Deployment:
        """Does all steps. On an error or Ctrl-C, which acts between two steps, everything is undone first.

        If this process dies before `keep`, it is taken down (`weir.fabric.lifeline`). FabricError, with
        nothing done, if another deployment polls on one of its cores; `shares_cores`: it may.
        """
        lifeline.hold()
        with stop_signals.held():
            claim = CoreClaim()
            if not isinstance(about, Tuning) and not shares_cores:
                claim = CoreClaim.of(taking_part(about))
            try:
                deployment = cls(Journal.begin(about), claim)
            except FabricError:
                claim.release()
                raise
            site = deployment._site()
            try:
                for step in steps:
                    stop_signals.check()
                    deployment._do(step, site, on_event)
                stop_signals.check()
            except BaseException as error:
                site.close()
                try:
                    deployment.keep_logs(error)
                finally:
                    deployment.destroy(on_event)
                raise
            site.close()
        return deployment

    def keep_logs(self, error: BaseException) -> None:
        """Before it is taken down because of that error, which then says where its logs are."""
        for entry in self._journal.standing():
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Logging):
                handler.keep_logs(self._site(), error)

    def keep(self) -> None:
        """From now on it outlives this process, until it is destroyed."""
        self._journal.write({"keep": True})
        self._claim.release()

    def _do(self, step: Step, site: Site, on_event: OnEvent) -> None:
        self._journal.write({"do": step.model_dump()})
        on_event(Event(step, "doing"))
        site.at(step)
        try:
            facts = step_handler(step.kind).do(step, site)
        except (OSError, NetlinkError) as error:
            raise FabricError(f"cannot {step.text}: {error}") from error
        on_event(Event(step, "done"))
        self._journal.write({"facts": facts, "step": step.name})
        on_event(Event(step, "recorded"))

    def destroy(self, on_event: OnEvent = ignore) -> None:
        """Takes down what the journal says was made, last first, and then the journal.

        Goes on past a step that cannot be undone; then raises FabricError and keeps the journal.
        FabricError if another process works on the deployment. Ctrl-C waits for its end.
        """
        with stop_signals.held():
            self._destroy(on_event)

    def _destroy(self, on_event: OnEvent) -> None:
        lifeline.hold()  # what is taken down half is of no use to anybody
        self._journal.header()
        self._lock()
        self._journal.write({"ending": True})
        failures = []
        if "_counting" in self.__dict__:
            self._counting.close()
        site = self._site()
        for entry in reversed(self._journal.standing()):
            try:
                self._undo(entry, site, on_event)
            except (OSError, NetlinkError, FabricError) as error:
                failures.append(f"{entry.step.name}: {error}")
        site.close()
        if failures:
            self._journal.unlock()  # the next destroy may be this process's, too
            what = "; ".join(failures)
            raise NotGoneError(f"{self.id} is not all gone: {what}", "mend that and destroy again")
        self._journal.remove()
        self._claim.release()
        remove_free_locks()
        forget_unused()

    def _lock(self) -> None:
        """Whoever takes it down now, as the lifeline of a destroy that failed does, is waited for."""
        going = any("ending" in record for record in self._journal.records())
        deadline = time.monotonic() + (GOING_S if going else EXEC_S)
        while not self._journal.lock():
            if time.monotonic() >= deadline:
                does = "is being taken down by another weir" if going else "belongs to a weir that is running"
                raise FabricError(f"{self.id} {does}", "wait for its end, or interrupt it")
            stop_signals.check()
            time.sleep(_PAUSE_S)

    def _undo(self, entry: Entry, site: Site, on_event: OnEvent) -> None:
        on_event(Event(entry.step, "undoing"))
        site.at(entry.step)
        handler = step_handler(entry.step.kind)
        handler.undo(entry.step.params, entry.facts, site)
        if isinstance(handler, Speaking):
            self._keep_output(str(entry.step.params["node"]), handler.output(entry.step.params, site))
        on_event(Event(entry.step, "undone"))
        self._journal.write({"undone": entry.step.name})
        on_event(Event(entry.step, "forgotten"))

    def _keep_output(self, node: str, log: Path) -> None:
        """Before the run directory goes."""
        with suppress(OSError), log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - OUTPUT_BYTES_MAX))
            self.outputs[node] = Output(size, file.read(OUTPUT_BYTES_MAX))

    def remake(
        self, kind: StepKind, first: Callable[[Entry, Site], None], do: Callable[[Entry, Site], Facts]
    ) -> None:
        """Has all that steps of that kind made made anew: `first` is called with each of them before `do` is,
        which returns what the step's undo has to know from then on.

        Ctrl-C waits for its end. FabricError if something does not come up again."""
        with stop_signals.held():
            self._counting.close()
            site = self._site()
            try:
                entries = [entry for entry in self._journal.standing() if entry.step.kind == kind]
                for entry in entries:
                    first(entry, site)
                for entry in entries:
                    site.at(entry.step)
                    self._journal.write({"facts": do(entry, site), "step": entry.step.name})
            except OSError as error:
                raise FabricError(f"cannot reset {kind}: {error}") from error
            finally:
                site.close()
                self.__dict__.pop("_processes", None)

    def state(self) -> Literal["kept", "in use", "abandoned", "unreadable"]:
        """What becomes of it if nobody does anything. Any user may ask."""
        if self.foreign() is not None:
            return "unreadable"
        if self._journal.kept():
            return "kept"
        try:
            abandoned = self.abandoned()
        except FabricError:  # another user's
            return "in use" if self._journal.is_locked() else "abandoned"
        if not abandoned:
            return "in use"
        self._journal.unlock()
        return "abandoned"

    def abandoned(self) -> bool:
        """Nobody works on it, and it is not kept: its maker was killed, or who was taking it down.

        It is locked then.
        """
        if not self._journal.lock():
            return False
        if self._journal.kept() or self.foreign() is not None:
            self._journal.unlock()
            return False
        return True


def deployments() -> list[Deployment]:
    """All that have a journal, whole or not."""
    found = []
    for path in journals():
        try:
            found.append(Deployment(Journal(path)))
        except FabricError:
            if path.exists():  # else another weir has just taken it down
                raise
    return found


def clean_leftovers() -> list[str]:
    """Takes down what runs that were killed have left. Returns their ids, and what else it names."""
    gone = []
    for deployment in deployments():
        if deployment.abandoned():
            deployment.destroy()
            gone.append(deployment.id)
    return gone + remove_remains()


def remove_remains() -> list[str]:
    """What killed ones have left beside deployments: locks, and folders with keys, which it names."""
    for path in root().glob(f"*{LOCK_SUFFIX}"):
        lock = Lock(path)
        with suppress(FabricError):  # another user's
            if not path.with_suffix(SUFFIX).exists() and lock.take():
                lock.release()
    return [f"the folder {path}" for path in remove_folders_left()]
