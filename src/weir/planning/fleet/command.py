# SPDX-License-Identifier: Apache-2.0
"""`weir fleet plan`: where many chains stand on many hosts, and how far that is from the best there is."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.words import counted
from weir.cli.exits import FAILED, INTERRUPTED, reporting
from weir.cli.help import Command, Group
from weir.cli.model import AsJson
from weir.cli.quantities import SEED_MOST

if TYPE_CHECKING:
    from weir.planning.fleet.search import Standing
    from weir.planning.fleet.stop import Stop

SAY_EVERY_S = 5.0  # where nobody looks, a line now and then


fleet = typer.Typer(cls=Group, help="Many chains on many hosts.", no_args_is_help=True)


@fleet.callback()
def options() -> None:
    """Many chains on many hosts."""


@fleet.command(cls=Command)
@reporting
def plan(
    path: Annotated[
        Path,
        typer.Argument(metavar="FLEET", help="A fleet file, or a directory with a fleet.yml."),
    ],
    *,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.1, max=86400, metavar="SECONDS", help="Of the search.")
    ] = 60,
    gap: Annotated[
        float,
        typer.Option("--gap", min=0, max=1, metavar="SHARE", help="The search ends when this is proved."),
    ] = 0.01,
    seed: Annotated[int, typer.Option("--seed", min=0, max=SEED_MOST, help="Of the search.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the placement there, as with --json."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find which host carries which chains. Says what is proved of that; touches nothing, needs no root.

    For the fewest chains without a place, then the least cost of hosts, then balance. Exit code 1 if some
    chains have no place. Ctrl-C ends the search with the best placement so far.
    """
    from weir.lab.fleet_load import load_fleet
    from weir.planning.fleet import table
    from weir.planning.fleet.answer import placement_of
    from weir.planning.fleet.instance import fleet_of
    from weir.planning.fleet.search import Search
    from weir.planning.fleet.stop import Stop
    from weir.store.files import check_file, write_file

    file = load_fleet(path)
    if out is not None:
        check_file(out, "--output")
    stop = Stop(time_limit, time.monotonic)
    progress = Progress()
    with _ctrl_c(stop):
        search = Search(fleet_of(file), stop, gap=gap, seed=seed, tell=progress.show)
        answer = search.run()
    progress.clear()
    placement = placement_of(file, answer, seed)
    document = placement.model_dump_json(indent=2) + "\n"
    if out is not None:
        write_file(out, document, "choose another place with --output")
    print(document if as_json else table.render(placement), end="")
    if placement.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if placement.unplaced:
        raise typer.Exit(FAILED)


@contextmanager
def _ctrl_c(stop: Stop) -> Iterator[None]:
    """The first Ctrl-C ends the search, which keeps its best placement; a second one ends the program."""

    def ask(number: int, _: object) -> None:
        stop.ask()
        signal.signal(number, before)
        print("\nends with the best placement so far, some seconds later", file=sys.stderr, flush=True)

    before = signal.getsignal(signal.SIGINT)
    if before != signal.SIG_IGN:  # one that this process was started to ignore stays ignored
        signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Progress:
    """One line that moves in a terminal; elsewhere a line every few seconds."""

    def __init__(self) -> None:
        self._moving = sys.stderr.isatty()
        self._said_s = 0.0

    def show(self, standing: Standing) -> None:
        """Called after each step of the search."""
        if self._moving:
            print(f"\r\x1b[K{_sentence(standing)}", end="", file=sys.stderr, flush=True)
        elif standing.passed_s - self._said_s >= SAY_EVERY_S:
            self._said_s = standing.passed_s
            print(_sentence(standing), file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leaves an empty line for what follows."""
        if self._moving:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _sentence(standing: Standing) -> str:
    unplaced = f"{counted(standing.unplaced, 'chain')} without a place, " if standing.unplaced else ""
    return (
        f"{standing.passed_s:5.1f} s  {standing.step}: {unplaced}{standing.hosts:,} hosts, cost "
        f"{standing.cost:,.6g}, at least {standing.cost_bound:,.6g}, gap {standing.gap:.2%}"
    )
