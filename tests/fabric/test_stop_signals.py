# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and its like wait where something is half made, and are never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from weir.fabric import stop_signals

pressed = [signal.SIGINT]


def press() -> None:
    signal.raise_signal(pressed[0])


def interrupted(work: Callable[[], None]) -> None:
    with pytest.raises(KeyboardInterrupt):
        work()


@pytest.fixture(autouse=True, params=stop_signals.SIGNALS, ids=lambda number: number.name)
def as_before(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test ends with the handlers with which it began; nobody has interrupted its process before."""
    monkeypatch.setattr(stop_signals, "_said", False)
    before = [signal.getsignal(number) for number in stop_signals.SIGNALS]
    pressed[0] = request.param
    yield
    assert [signal.getsignal(number) for number in stop_signals.SIGNALS] == before


def test_it_comes_at_the_end_of_the_outermost_body() -> None:
    done = []

    def work() -> None:
        with stop_signals.held():
            with stop_signals.held():
                press()
                done.append("inner")
            done.append("outer")

    interrupted(work)
    assert done == ["inner", "outer"]


def test_where_nothing_is_built_or_taken_down_no_word_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    def quietly() -> None:
        with stop_signals.held(quiet=True), stop_signals.held():
            press()

    def aloud() -> None:
        with stop_signals.held(), stop_signals.held(quiet=True):
            press()

    interrupted(quietly)
    assert capfd.readouterr().err == ""
    interrupted(aloud)
    assert "taking down what was built" in capfd.readouterr().err


def test_pressed_twice_it_comes_once() -> None:
    def work() -> None:
        with stop_signals.held():
            press()
            press()

    interrupted(work)
    with stop_signals.held():
        stop_signals.check()


def test_that_it_came_is_said_at_once_and_once(capfd: pytest.CaptureFixture[str]) -> None:
    said = []

    def work() -> None:
        with stop_signals.held():
            press()
            said.append(capfd.readouterr().err)
            press()
            said.append(capfd.readouterr().err)

    interrupted(work)
    interrupted(work)  # while something else is taken down
    assert said == [
        f"interrupted by {signal.Signals(pressed[0]).name}: taking down what was built ...\n",
        "",
        "",
        "",
    ]


def test_it_is_said_before_what_was_built_is_taken_down(capfd: pytest.CaptureFixture[str]) -> None:
    said = []

    def work() -> None:
        with stop_signals.held():
            try:
                with stop_signals.allowed():
                    press()
            finally:
                said.append(capfd.readouterr().err)
                press()

    interrupted(work)
    assert said == [f"interrupted by {signal.Signals(pressed[0]).name}: taking down what was built ...\n"]
    assert capfd.readouterr().err == ""


def test_where_it_is_allowed_it_comes_at_once_and_then_waits_again() -> None:
    done = []

    def work() -> None:
        with stop_signals.held():
            try:
                with stop_signals.allowed():
                    press()
                    done.append("not reached")
            finally:
                press()
                done.append("cleaned up")

    interrupted(work)
    assert done == ["cleaned up"]


def test_one_that_has_come_is_not_kept_waiting_where_it_is_allowed() -> None:
    def work() -> None:
        with stop_signals.held():
            press()
            with stop_signals.allowed():
                pytest.fail("went on")

    interrupted(work)


def test_it_counts_more_than_an_error_that_it_may_have_caused() -> None:
    def work() -> None:
        with stop_signals.held():
            press()
            raise OSError("a tool of the same terminal was interrupted too")

    interrupted(work)


def test_what_handles_errors_of_every_kind_does_not_swallow_it() -> None:
    done = []

    def foreign() -> None:
        try:
            press()
        except BaseException:
            done.append("swallowed")

    def work() -> None:
        with stop_signals.held(), stop_signals.allowed():
            with stop_signals.held():
                foreign()
            done.append("not reached")

    interrupted(work)
    assert done == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_a_finalizer_lost_comes_before_the_next_thing_begins() -> None:
    done = []

    class Finalized:
        def __del__(self) -> None:
            press()

    def work() -> None:
        with stop_signals.held():
            with stop_signals.allowed():
                Finalized()  # says so on standard error, and goes on
                with stop_signals.held():
                    done.append("built")
            done.append("went on")
            stop_signals.check()  # what takes down looks here, and is not stopped
            done.append("took down")
            stop_signals.check_unanswered()
            done.append("not reached")

    interrupted(work)
    assert done == ["built", "went on", "took down"]


def test_an_answered_one_does_not_come_again() -> None:
    with stop_signals.held():
        press()
        stop_signals.discard()


def test_when_what_was_asked_for_stands_it_comes_too_late(capfd: pytest.CaptureFixture[str]) -> None:
    before = {number: signal.getsignal(number) for number in stop_signals.SIGNALS}
    try:
        with stop_signals.held():
            stop_signals.finish()
            press()
        press()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capfd.readouterr().err == ""
    with pytest.raises(KeyboardInterrupt), stop_signals.held():  # the next one in this process
        press()


def test_where_it_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(pressed[0], signal.SIG_IGN)
    try:
        with stop_signals.held(), stop_signals.allowed():
            press()
        assert signal.getsignal(pressed[0]) is signal.SIG_IGN
    finally:
        signal.signal(pressed[0], before)


def test_other_threads_are_never_interrupted() -> None:
    ended = []

    def work() -> None:
        with stop_signals.held(), stop_signals.allowed():
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended
