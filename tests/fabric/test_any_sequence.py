# SPDX-License-Identifier: Apache-2.0
"""Weirs, their kills and an administrator, in any order: nothing of a gone deployment is left, nothing else
is touched, what is kept stays whole, and settings are the administrator's when nobody of Weir holds them.

100,000 sequences take hours: WEIR_PART=3/20 tries a twentieth, with a seed of its own; WEIR_RECORD=1 writes
down what was tried (tools/regime.py).
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterable

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.part import Part
from tools import regime
from weir.base.error import FabricError
from weir.fabric.deployment import Deployment, clean_leftovers, deployments
from weir.fabric.journal import SUFFIX, VERSION

from .machine import BEFORE, GOVERNOR, PAGES, RT_RUNTIME, Machine, Running

FUSE = st.integers(1, 60)
AT_ONCE = 4
TOKENS = ("0000000a", "0000000b", "0000000c", "0000000d", "0000000e", "0000000f")


class Sequences(RuleBasedStateMachine):
    """`kept`, `running`, `left`, `foreign`: deployments by what becomes of them. `damaged`: not whole."""

    tried = 0

    def __init__(self) -> None:
        super().__init__()
        Sequences.tried += 1
        self.patch = pytest.MonkeyPatch()
        self.machine = Machine(self.patch)
        self.kept: set[str] = set()
        self.running: dict[str, Running] = {}
        self.left: set[str] = set()
        self.foreign: set[str] = set()
        self.damaged: set[str] = set()
        self.administrators = dict(BEFORE)
        self.look_alikes: dict[object, str] = {}

    def teardown(self) -> None:
        try:
            for name, one in self.running.items():
                one.kill()
                self.left.add(name)
            self.running = {}
            clean_leftovers()
            for name in self.kept:
                self.machine.destroy(name)
            self.kept, self.left = set(), set()
            self.nothing_of_what_is_gone_and_all_of_what_stands()
            self.settings_are_the_administrators()
        finally:
            self.patch.undo()
            self.machine.remove()

    # --- Weirs ---

    def _name(self, choose: st.DataObject) -> str:
        standing = self.kept | self.left | self.foreign | set(self.running)
        return "small-" + choose.draw(st.sampled_from([t for t in TOKENS if f"small-{t}" not in standing]))

    def _few(self) -> bool:
        return len(self.kept) + len(self.running) + len(self.left) < AT_ONCE

    @precondition(_few)
    @rule(choose=st.data())
    def deploy(self, choose: st.DataObject) -> None:
        name = self._name(choose)
        assert self.machine.weir(lambda: self.machine.deploy(name).keep())
        self.kept.add(name)

    @precondition(_few)
    @rule(choose=st.data(), fuse=FUSE)
    def deploy_and_be_killed(self, choose: st.DataObject, fuse: int) -> None:
        name = self._name(choose)
        if self.machine.weir(lambda: self.machine.deploy(name).keep(), fuse):
            self.kept.add(name)
        elif (self.machine.root / f"{name}{SUFFIX}").exists():
            self.left.add(name)

    @precondition(_few)
    @rule(choose=st.data())
    def begin_to_measure(self, choose: st.DataObject) -> None:
        name = self._name(choose)
        self.running[name] = Running(self.machine, name)

    @precondition(lambda self: self.running)
    @rule(choose=st.data(), how=st.sampled_from(["finish", "keep", "kill"]))
    def end_to_measure(self, choose: st.DataObject, how: str) -> None:
        name = choose.draw(st.sampled_from(sorted(self.running)))
        one = self.running.pop(name)
        getattr(one, how)()
        if how == "keep":
            self.kept.add(name)
        elif how == "kill":
            self.left.add(name)

    @precondition(lambda self: self.kept or self.left)
    @rule(choose=st.data())
    def destroy(self, choose: st.DataObject) -> None:
        name = choose.draw(st.sampled_from(sorted(self.kept | self.left)))
        assert self.machine.weir(lambda: self.machine.destroy(name))
        self._gone(name)

    @precondition(lambda self: self.kept or self.left)
    @rule(choose=st.data(), fuse=FUSE)
    def destroy_and_be_killed(self, choose: st.DataObject, fuse: int) -> None:
        name = choose.draw(st.sampled_from(sorted(self.kept | self.left)))
        ended = self.machine.weir(lambda: self.machine.destroy(name), fuse)
        self._gone(name)
        if not ended and (self.machine.root / f"{name}{SUFFIX}").exists():
            self.left.add(name)

    @precondition(lambda self: self.running)
    @rule(choose=st.data())
    def what_runs_cannot_be_destroyed(self, choose: st.DataObject) -> None:
        name = choose.draw(st.sampled_from(sorted(self.running)))
        with pytest.raises(FabricError, match="belongs to a weir that is running"):
            self.machine.destroy(name)

    @rule()
    def take_down_what_was_left(self) -> None:
        assert set(clean_leftovers()) == self.left
        for name in set(self.left):
            self._gone(name)

    def _gone(self, name: str) -> None:
        self.kept.discard(name)
        self.left.discard(name)
        self.damaged.discard(name)

    # --- the administrator ---

    @rule(path=st.sampled_from([GOVERNOR, RT_RUNTIME, PAGES]), number=st.integers(1, 9))
    def set_something(self, path: str, number: int) -> None:
        """To a value that is none of Weir's."""
        known = {GOVERNOR: f"own-{number}", RT_RUNTIME: f"{number}00000", PAGES: f"{number}0000"}
        if self.machine.value(path) != known[path]:
            self.machine.put(path, known[path])
            self.administrators[path] = known[path]

    @precondition(lambda self: self.kept or self.left or self.running)
    @rule(choose=st.data())
    def delete_something(self, choose: st.DataObject) -> None:
        """A namespace or a process of Weir's, or its directory."""
        name = choose.draw(st.sampled_from(sorted(self.kept | self.left | set(self.running))))
        parts = sorted(self.machine.parts(name))
        if parts:
            part = choose.draw(st.sampled_from(parts))
            if part.is_dir():
                for one in part.iterdir():
                    one.unlink()
                part.rmdir()
            else:
                part.unlink()
            self.damaged.add(name)

    @rule(token=st.sampled_from(TOKENS), number=st.integers(0, 9))
    def add_a_look_alike(self, token: str, number: int) -> None:
        path = (
            self.machine.namespaces / f"weir-{token}{number}-l",
            self.machine.processes / f"0{number}",
            self.machine.root / f"small-{token}{number}",
        )[number % 3]
        text = f"small-{token}{number}/weir-dp"
        path.write_text(text)
        self.look_alikes[path] = text

    @precondition(lambda self: self.kept or self.left)
    @rule(choose=st.data(), text=st.sampled_from(['{"do":{"kind":"netns","na', "{", "\0\0\0", "[]"]))
    def tear_the_last_line(self, choose: st.DataObject, text: str) -> None:
        """As a kill does, of a machine too."""
        name = choose.draw(st.sampled_from(sorted(self.kept | self.left)))
        with (self.machine.root / f"{name}{SUFFIX}").open("a") as journal:
            journal.write(text)

    @precondition(lambda self: self._few() and not self.foreign)
    @rule(choose=st.data(), version=st.sampled_from([0, VERSION + 1, None]))
    def another_version_deploys(self, choose: st.DataObject, version: int | None) -> None:
        name = self._name(choose)
        (self.machine.root / f"{name}{SUFFIX}").write_text(json.dumps({"journal": version}) + "\n")
        self.foreign.add(name)

    @precondition(lambda self: self.foreign)
    @rule()
    def what_another_version_deployed_is_only_named(self) -> None:
        for name in self.foreign:
            with pytest.raises(FabricError, match="another version of Weir"):
                self.machine.destroy(name)

    # --- what is always so ---

    @initialize()
    def nothing_stands(self) -> None:
        assert deployments() == []

    @invariant()
    def nothing_of_what_is_gone_and_all_of_what_stands(self) -> None:
        standing = self.kept | self.left | self.foreign | set(self.running)
        found = deployments()  # once for all that is asked of it: a third of a sequence's time
        assert {one.id for one in found} == standing
        self._states_are_told(found)
        whole = 1 + 2 + 1  # the directory, two namespaces, a process
        for token in TOKENS:
            name = f"small-{token}"
            parts = self.machine.parts(name)
            if name not in standing or name in self.foreign:
                assert parts == set(), name
            elif name not in self.left and name not in self.damaged:
                assert len(parts) == whole, (name, parts)

    @invariant()
    def look_alikes_stay(self) -> None:
        assert all(path.read_text() == text for path, text in self.look_alikes.items())  # type: ignore[attr-defined]

    def _states_are_told(self, found: Iterable[Deployment]) -> None:
        for one in found:
            expected = (
                "kept" if one.id in self.kept
                else "unreadable" if one.id in self.foreign
                else "in use" if one.id in self.running
                else "abandoned"
            )  # fmt: skip
            assert one.state() == expected, one.id

    @invariant()
    def settings_are_the_administrators(self) -> None:
        """When nobody of Weir holds them."""
        if not (self.kept or self.left or self.running):
            assert {path: self.machine.value(path) for path in BEFORE} == self.administrators


def sequences(count: int) -> settings:
    return settings(
        max_examples=count, stateful_step_count=25, deadline=None, database=None, derandomize=count == FEW,
        suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip


FEW, MANY = 25, 100_000
SEED = int(os.environ.get("WEIR_SEED") or 0)
PART = Part.asked()


@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_any_sequence(many: bool, capsys: pytest.CaptureFixture[str]) -> None:
    count = PART.share(int(os.environ.get("WEIR_SEQUENCES") or MANY)) if many else FEW
    Sequences.tried, began_s, broken = 0, time.monotonic(), 1
    # hypothesis' way to say it: a sequence is made of this alone, so each part has its own ones.
    sequence = seed(f"{SEED} {PART}")(Sequences) if many else Sequences
    chosen: Callable[..., None] = run_state_machine_as_test
    gc.freeze()  # weirs are forked: what is collected here they would copy
    try:
        chosen(sequence, settings=sequences(count))
        broken = 0
    except KeyboardInterrupt:
        broken = 0
        raise
    finally:
        gc.unfreeze()
        took_s = time.monotonic() - began_s
        if many and regime.wanted():
            regime.record(
                regime.Tried.now(
                    "sequences", "weirs, kills and an administrator", part=str(PART), seed=SEED, asked=count,
                    tried=Sequences.tried, faults=broken, seconds=took_s,
                )
            )  # fmt: skip
        with capsys.disabled():
            print(f"\n{Sequences.tried} sequences of Weirs, kills and administrators, {took_s:.1f} s")
