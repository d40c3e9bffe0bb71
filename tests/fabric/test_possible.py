# SPDX-License-Identifier: Apache-2.0
"""What of a lab's `host` is done on this machine, and what becomes of the rest."""

from __future__ import annotations

import importlib

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.fabric.host_applied import host_settings, possible
from weir.lab import Lab
from weir.plan import Step
from weir.results.result import HostSetting


def lab(**host: object) -> Lab:
    fields = {"weir": 1, "name": "tuned", "chain": "PVP", "technology": "direct", "host": host}
    return Lab.model_validate(fields | {"cores": {"tester": [1], "functions": [1]}})


def topology(asked: Lab) -> Topology:
    return plan.build_topology(asked, "direct", asked.chains()[0], "tuned-00000000")


def settings(asked: Lab, memory: str = "hugepages", refused: tuple[str, ...] = ()) -> dict[str, HostSetting]:
    found = host_settings(asked, topology(asked), memory=memory, refused=refused)
    return {one.key: one for one in found}


@pytest.fixture(autouse=True)
def lacks_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(step: Step) -> str | None:
        return f"no {step.kind} here" if step.kind in ("isolation", "rt-throttle") else None

    monkeypatch.setattr(importlib.import_module("weir.fabric.host_applied"), "lacking", lacking)


def test_what_is_wished_for_and_impossible_is_left_out_with_the_reason() -> None:
    asked = lab(isolation="auto", interrupts="auto")
    done, skipped = possible(plan.steps(topology(asked), asked))
    assert [one.why for one in skipped] == ["no isolation here"]
    assert "interrupts" in [step.kind for step in done]
    assert "isolation" not in [step.kind for step in done]


def test_what_is_asked_for_by_name_stays_so_that_doing_it_says_what_to_mend() -> None:
    asked = lab(isolation="partition")
    done, skipped = possible(plan.steps(topology(asked), asked))
    assert "isolation" in [step.kind for step in done]
    assert skipped == []


def test_loops_are_ordinary_where_the_throttle_of_realtime_threads_stays() -> None:
    asked = lab(rt="auto")
    done, _ = possible(plan.steps(topology(asked), asked))
    assert [step.params["rt"] for step in done if step.kind == "weir-dp"] == [False]
    asked = lab(rt=True)
    done, _ = possible(plan.steps(topology(asked), asked))
    assert [step.params["rt"] for step in done if step.kind == "weir-dp"] == [True]


def test_each_key_says_what_became_of_it() -> None:
    found = settings(lab(isolation="auto", interrupts="auto", pinning=True))
    assert (found["pinning"].asked, found["pinning"].applied) == ("true", True)
    assert (found["isolation"].applied, found["isolation"].why) == (False, "no isolation here")
    assert (found["interrupts"].applied, found["interrupts"].why) == (True, None)
    assert (found["governor"].asked, found["governor"].applied, found["governor"].why) == (None, False, None)


def test_what_the_kernel_keeps_is_said_of_what_was_done() -> None:
    kept = "move interrupts away from CPU 1: the kernel keeps /proc/irq/36 as it is"
    found = settings(lab(interrupts="auto"), refused=(kept,))
    assert (found["interrupts"].applied, found["interrupts"].why) == (True, kept)


def test_hugepages_are_judged_by_what_the_data_plane_has() -> None:
    assert settings(lab(), memory="no-huge")["hugepages"].why == "none free"
    without = settings(lab(hugepages="none"), memory="no-huge")["hugepages"]
    assert (without.applied, without.why) == (False, None)
