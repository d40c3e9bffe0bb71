# SPDX-License-Identifier: Apache-2.0
"""Cores that something of a deployment works on are its own: two that poll on one core only measure each
other.

A weir that builds or measures has a lock for each of its cores, which ends with the process. What it keeps
has its cores by its journal, from before the locks go until all is taken down. So a core is free for whoever
gets its lock and then finds it in no journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import stop_signals
from weir.fabric.journal import SUFFIX, Journal, journals, make_run_root, root
from weir.fabric.lock import LOCK_SUFFIX, Lock
from weir.fabric.outside.watch import taking_part

PREFIX = "core-"
TOLD_AGAIN_S = 60.0
"""Who has them may be another one by then."""
GRACE_S = 0.5
"""Somebody who only looks, or begins to take down what was left, has a lock for less than this."""
GOING_S = 30.0
"""What is being taken down is gone after this, machines in it too."""
SOON_S, _PAUSE_S, _LONG_PAUSE_S = 5.0, 0.1, 0.5
"""Who waits for longer looks less often: what it waits for measures."""

Waiting = Callable[[str], None]
"""Is told who has the cores, and who has them then."""


@dataclass(frozen=True)
class Holder:
    """Who has cores that are wanted."""

    does: str
    fix: str
    patience_s: float = 0.0
    """So long it may take until it is gone by itself."""


@dataclass
class _Held:
    """A lock of this process, and how many claims in it have the core."""

    lock: Lock
    claims: int = 0


_Key = tuple[int, Path]
_held: dict[_Key, _Held] = {}
"""By process, since a forked child is another one, and file."""


class CoreClaim:
    """Cores that this process has. A claim within another one of the same process has its cores, too."""

    def __init__(self) -> None:
        self._keys: list[_Key] = []

    @classmethod
    def of(cls, cores: Collection[int], waiting: Waiting | None = None) -> CoreClaim:
        """All of them or none. FabricError names who has one; with `waiting`, waits until they are free.

        Ctrl-C ends that, where it is held, too.
        """
        began, told, told_s = time.monotonic(), "", -TOLD_AGAIN_S
        while True:
            stop_signals.check()
            claim = cls()
            holder = claim._taken_by_others(sorted(set(cores)))
            if holder is None:
                return claim
            took_s = time.monotonic() - began
            if waiting is None and took_s >= holder.patience_s:
                raise FabricError(holder.does, holder.fix)
            new = holder.does != told and took_s - told_s >= TOLD_AGAIN_S
            if waiting is not None and new and took_s >= min(GRACE_S, holder.patience_s):
                waiting(holder.does)
                told, told_s = holder.does, took_s
            time.sleep(_PAUSE_S if took_s < SOON_S else _LONG_PAUSE_S)

    def release(self) -> None:
        """Gives them back. Without effect the second time."""
        while self._keys:
            key = self._keys.pop()
            held = _held[key]
            held.claims -= 1
            if not held.claims:
                del _held[key]
                held.lock.release()

    def _taken_by_others(self, cores: list[int]) -> Holder | None:
        """None if this claim has all of them now; else it has none."""
        try:
            holder = next((_running(core, cores) for core in cores if not self._take(core)), None)
            holder = holder or next(_standing(cores), None)
        except BaseException:
            self.release()
            raise
        if holder is not None:
            self.release()
        return holder

    def _take(self, core: int) -> bool:
        key = os.getpid(), _path(core)
        held = _held.get(key) or _Held(Lock(key[1]))
        if not held.claims:
            _make_root()
            if not held.lock.take():
                return False
            held.lock.write(str(os.getpid()))
            _held[key] = held
        held.claims += 1
        self._keys.append(key)
        return True


@contextmanager
def claimed(cores: Collection[int], waiting: Waiting | None = None) -> Iterator[None]:
    """For all that the body deploys, one after the other: nobody else gets these cores in between."""
    claim = CoreClaim.of(cores, waiting)
    try:
        yield
    finally:
        claim.release()


def may_claim() -> bool:
    """Whether this user may have locks of cores."""
    there = next(one for one in (root(), *root().parents) if one.exists())
    return os.access(there, os.W_OK)


def somebody_has(core: int) -> bool:
    """As an ordinary user sees it, who cannot open the lock: it is there. Its weir may have been killed."""
    return _path(core).exists()


def remove_free_locks() -> None:
    """Of Weirs that were killed."""
    for path in root().glob(f"{PREFIX}*{LOCK_SUFFIX}"):
        lock = Lock(path)
        if path.stem.removeprefix(PREFIX).isdigit() and lock.take():
            lock.release()


def _path(core: int) -> Path:
    return root() / f"{PREFIX}{core}{LOCK_SUFFIX}"


def _make_root() -> None:
    try:
        make_run_root(root())
    except OSError as error:
        raise FabricError(
            f"cannot make {root()}: {error.strerror}",
            "run as root, or set WEIR_RUN_DIR to a directory of yours",
        ) from error


def _running(core: int, cores: Collection[int]) -> Holder:
    """The weir that has that core's lock, by what it has deployed at this moment, if there is anything."""
    pid = ""
    with suppress(OSError):
        pid = _path(core).read_text().strip()
    weir = f"a running weir (pid {pid})" if pid else "a running weir"
    its = next((one for one in _overlapping(cores) if core in one[1] and not one[0].kept()), None)
    return Holder(
        f"{weir} has {_named([core])}"
        if its is None
        else f"{_id(its[0])} of {weir} polls on {_named(its[1])}",
        f"wait for its end (--wait, where the command has it), or choose {_others(cores)}",
        GRACE_S,
    )


def _standing(cores: Collection[int]) -> Iterator[Holder]:
    """What has such cores by its journal. Not what a killed weir has left: that is taken down first."""
    yield from _undescribed()
    for journal, shared in _overlapping(cores):
        does = f"{_id(journal)} polls on {_named(shared)}"
        if journal.kept():
            name = _id(journal)
            fix = f"take it down with `weir destroy {name}`, or choose {_others(cores)}"
            yield Holder(does, fix)
        elif not journal.lock():
            going = any("ending" in record for record in journal.records())
            yield Holder(
                f"{does}, and is being taken down" if going else f"{does}, and a running weir works on it",
                f"wait for that (--wait, where the command has it), or choose {_others(cores)}",
                GOING_S if going else GRACE_S,
            )


def _overlapping(cores: Collection[int]) -> Iterator[tuple[Journal, list[int]]]:
    """Journals of deployments that have some of these cores, and which. Tuned hosts poll on none, and what
    another version of Weir has deployed cannot be read."""
    for path in journals():
        with suppress(FabricError), closing(Journal(path)) as journal:  # it may be gone by now
            topology = journal.topology()
            its = taking_part(topology) if topology is not None else frozenset()
            if its & set(cores):
                yield journal, sorted(its & set(cores))


def _undescribed() -> Iterator[Holder]:
    """What stands and may poll on any core: another version of Weir describes it otherwise."""
    for path in journals():
        with suppress(FabricError), closing(Journal(path)) as journal:
            if "begin" not in journal.header() or not journal.kept():
                continue
            try:
                journal.topology()
            except FabricError as error:
                yield Holder(f"{error.message}; so nobody knows on which cores it polls", error.fix)


def _id(journal: Journal) -> str:
    return journal.path.name.removesuffix(SUFFIX)


def _named(cores: Collection[int]) -> str:
    """ "core 0", "cores 0, 1 and 4"."""
    *most, last = [str(core) for core in sorted(cores)]
    return f"cores {', '.join(most)} and {last}" if most else f"core {last}"


def _others(cores: Collection[int]) -> str:
    what = "other cores" if len(cores) > 1 else "another core"
    return f"{what}: `cores` of a lab, `performance.cores` of a cloud to verify, --cpu of `weir lean`"
