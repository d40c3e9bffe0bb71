# SPDX-License-Identifier: Apache-2.0
"""What commands say of the steps of a deployment: before one is done, and while they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.fabric import Event
    from weir.plan import Step


def step_lines(steps: Sequence[Step]) -> Iterator[str]:
    """Each step with its number, and what undoes it."""
    width = len(str(len(steps)))
    for number, step in enumerate(steps, 1):
        undo = f"  (undo: {step.undo_text})" if step.undo_text else ""
        yield f"{number:{width}}. {step.text}{undo}"


@contextmanager
def after_leftovers() -> Iterator[None]:
    """With Ctrl-C held, for whoever makes what stays, when all that a killed weir left is gone."""
    from weir import fabric
    from weir.fabric import stop_signals

    with stop_signals.held():
        for name in fabric.clean_leftovers():
            print(f"took down {name}, which a killed weir had left", file=sys.stderr)
        yield
        stop_signals.finish()


def told(event: Event) -> None:
    """Prints each step when it is begun."""
    if event.state == "doing":
        print(f"  {event.step.text}")
