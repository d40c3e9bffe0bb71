# SPDX-License-Identifier: Apache-2.0
"""How a migration ended, as far as it is known: of machines that never were."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

from weir.base.error import FabricError
from weir.fabric.vm.migration import Limits, Moment
from weir.procedures.migration.course import Course

WAIT_S = 10.0  # at most: each of these ends by itself


def course(**does: object) -> Course:
    """One whose machine does so, and that begins to migrate at once."""
    client = Mock(traffic_interval=lambda: Mock(now_ns=1))
    machine = Mock(**{"wait.return_value": [], "figures.return_value": {}, **does})
    limits = Limits(300, None)
    return Course(machine, client, limits, settle_s=0.01, time_limit_s=0.05, say=lambda _: None)


def raises(error: BaseException) -> Callable[..., None]:
    def call(*_: object) -> None:
        raise error

    return call


def test_one_that_nobody_has_begun_is_not_under_way() -> None:
    assert course().status == "not begun"


def test_of_a_machine_that_has_ended_nobody_knows_how_it_went() -> None:
    seen = course()
    seen._machine.begin.side_effect = lambda _: setattr(  # type: ignore[attr-defined]
        seen._machine, "wait", raises(FabricError("virtual machine f1 has ended"))
    )
    assert seen.wait(WAIT_S)
    assert (seen.status, seen.why) == ("unknown", "virtual machine f1 has ended")
    assert seen.looks


def test_a_machine_that_does_not_answer_the_cancelling_was_not_cancelled() -> None:
    seen = course(**{"cancel.side_effect": FabricError("QEMU does not do migrate_cancel: no answer")})
    assert seen.wait(WAIT_S)
    assert seen.status == "unknown"
    assert seen.why == "it was not over after 0.05 s: QEMU does not do migrate_cancel: no answer"


def test_one_that_takes_too_long_to_be_cancelled_is_unknown_too() -> None:
    seen = course()
    assert seen.wait(WAIT_S)
    assert (seen.status, seen.why) == (
        "unknown",
        "it was not over after 0.05 s, and to be cancelled it took as long",
    )


def test_one_that_was_cancelled_says_so_with_the_reason() -> None:
    seen = course(**{"pairs.return_value": {"left": {"standby": "up", "primary": "up"}}})
    seen._machine.cancel.side_effect = lambda: setattr(  # type: ignore[attr-defined]
        seen._machine, "wait", lambda _: [Moment("cancelled", 1.0)] if seen.status == "running" else []
    )
    assert seen.wait(WAIT_S)
    assert (seen.status, seen.why) == ("cancelled", "it was not over after 0.05 s")


def test_a_guest_that_knows_no_ports_after_it_has_moved_is_not_restored() -> None:
    seen = course(**{"pairs.return_value": {}})
    seen._replugging()
    assert not seen.restored


def test_ctrl_c_in_the_middle_is_an_interruption_and_before_it_nothing() -> None:
    before = course(**{"wait.side_effect": KeyboardInterrupt})
    assert before.wait(WAIT_S)
    assert (before.status, before.interrupted) == ("not begun", True)
    middle = course()
    middle._machine.begin.side_effect = lambda _: setattr(  # type: ignore[attr-defined]
        middle._machine, "wait", raises(KeyboardInterrupt())
    )
    assert middle.wait(WAIT_S)
    assert (middle.status, middle.interrupted) == ("interrupted", True)
