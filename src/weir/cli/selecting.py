# SPDX-License-Identifier: Apache-2.0
"""Which stored runs a command is about: their ids, or filters; options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import completing
from weir.cli.exits import USAGE, CommandError
from weir.cli.stored import LATEST, nothing_stored

if TYPE_CHECKING:
    from weir.store.database import Database
    from weir.store.listing import RunSummary
    from weir.store.selection import Selection

NEWEST_MOST = 1_000_000
"""Of runs or trials, that an option can ask for: without it some commands have all."""
RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN",
        help="A run's id or its beginning, or `latest`; absent: by filters.",
        autocompletion=completing.runs,
    ),
]
Labs = Annotated[
    list[str] | None,
    typer.Option("--lab", metavar="NAME", help="Runs of this lab, or these.", autocompletion=completing.labs),
]
Factors = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="KEY=VALUE",
        help="Runs with a case of this technology, variant, chain or frame (one case has all that are given),"
        " or whose lab has this key: `measure.repeats=5`.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Begun then or later: 2026-11-01, in RFC 3339, or 7d ago."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Begun before then.")]
Hosts = Annotated[list[str] | None, typer.Option("--host", metavar="NAME", help="Measured there.")]
Campaigns = Annotated[
    list[str] | None,
    typer.Option("--campaign", metavar="ID", help="Of this campaign over several hosts."),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="With this tag, or all these.")]

AGO = re.compile(r"(\d{1,6})([mhdw])")
AGO_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class Filters:
    """As they were given."""

    labs: Sequence[str] | None
    factors: Sequence[str] | None
    since: str | None
    until: str | None
    hosts: Sequence[str] | None
    tags: Sequence[str] | None
    campaigns: Sequence[str] | None = None

    @property
    def any(self) -> bool:
        """Whether one was."""
        return any((self.labs, self.factors, self.since, self.until, self.hosts, self.tags, self.campaigns))

    def selection(self, runs: Sequence[int] = ()) -> Selection:
        """What they mean. CommandError."""
        from weir.store.selection import Selection

        return Selection(
            runs=runs,
            labs=self.labs or (),
            hosts=self.hosts or (),
            campaigns=self.campaigns or (),
            tags=self.tags or (),
            factors=dict(_factor(one) for one in self.factors or ()),
            since_s=None if self.since is None else moment_s(self.since, "--since"),
            until_s=None if self.until is None else moment_s(self.until, "--until"),
        )


def chosen(store: Database, names: Sequence[str] | None, filters: Filters) -> list[RunSummary]:
    """The runs of these names that pass the filters; without names all that do, of which there is one at
    least. CommandError, UnknownRunError."""
    from weir.store import listing

    if not names and not filters.any:
        raise CommandError("which runs? Name some, or give a filter such as --lab or --since", USAGE)
    found = listing.runs(store, filters.selection([_number(store, name) for name in names or ()]))
    if not found:
        raise CommandError(f"{store.name} has no such run; `weir ls` shows which there are", USAGE)
    return found


def _number(store: Database, name: str) -> int:
    from weir.store import listing

    if name == LATEST:
        newest = listing.runs(store, limit=1)
        if not newest:
            raise CommandError(nothing_stored(store), USAGE)
        return newest[0].number
    with store.session() as session:
        return store.run_of(session, name).number


def _factor(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise CommandError(f"--factor {text}: expected KEY=VALUE, such as technology=ovs", USAGE)
    key = key.strip()
    _known(key, text)
    return key, value.strip()


def _known(key: str, text: str) -> None:
    """CommandError: neither what a case is of nor a key of a lab begins so."""
    from weir.store.selection import COLUMNS

    if key in COLUMNS:
        return
    from weir.lab import Lab
    from weir.lab.problem import did_you_mean
    from weir.lab.tenants import TenantsFile

    known = [*COLUMNS, "quick", *Lab.model_fields, *TenantsFile.model_fields]
    if key.partition(".")[0] not in known:
        raise CommandError(
            f"--factor {text}: no case and no lab has {key}; expected {', '.join(COLUMNS)}, or a key of the "
            f"lab as measure.repeats{did_you_mean(key, known)}",
            USAGE,
        )


def moment_s(text: str, option: str, now: datetime | None = None) -> float:
    """Seconds since 1970 of a time, or of one so long ago. Without a zone it is UTC. CommandError."""
    ago = AGO.fullmatch(text)
    try:
        if ago:
            return ((now or datetime.now(UTC)) - timedelta(**{AGO_UNITS[ago[2]]: int(ago[1])})).timestamp()
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise CommandError(
            f"{option} {text}: expected a date such as 2026-11-01, a time in RFC 3339, or 7d (m, h, d, w)",
            USAGE,
        ) from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
