# SPDX-License-Identifier: Apache-2.0
"""Which runs of a store are meant: by their ids, and by lab, factor, time, host, campaign and tag."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, select

from weir.store.tables import CaseRow, RunRow, SetupRow, TagRow

COLUMNS = {
    "technology": SetupRow.technology,
    "variant": SetupRow.variant,
    "chain": SetupRow.chain,
    "frame": CaseRow.frame,
}
"""Factors that cases have; all others are keys of the lab."""
_NONE = -1


@dataclass(frozen=True)
class Selection:
    """All conditions hold together. Of several labs, hosts, campaigns or ids one has to fit; of tags and
    factors all."""

    runs: Sequence[int] = ()
    """Numbers of rows; none: all runs."""
    labs: Sequence[str] = ()
    hosts: Sequence[str] = ()
    campaigns: Sequence[str] = ()
    """Over several hosts, by their ids."""
    tags: Sequence[str] = ()
    factors: Mapping[str, str] = field(default_factory=dict)
    """Of COLUMNS, which one case of the run has all; or by dotted path in the resolved lab."""
    since_s: float | None = None
    """When runs began, since 1970."""
    until_s: float | None = None
    """Before then."""

    def of_runs(self) -> ColumnElement[bool]:
        """The condition on RunRow."""
        wanted: list[ColumnElement[bool]] = [RunRow.number.is_not(None)]
        if self.runs:
            wanted.append(RunRow.number.in_(self.runs))
        if self.labs:
            wanted.append(RunRow.lab.in_(self.labs))
        if self.hosts:
            wanted.append(RunRow.host.in_(self.hosts))
        if self.campaigns:
            wanted.append(RunRow.campaign.in_(self.campaigns))
        if self.since_s is not None:
            wanted.append(RunRow.started_s >= self.since_s)
        if self.until_s is not None:
            wanted.append(RunRow.started_s < self.until_s)
        wanted += [
            exists().where(TagRow.run == RunRow.number, TagRow.tag == tag).correlate(RunRow)
            for tag in self.tags
        ]
        if self._of_cases():
            case = select(SetupRow.number).join(CaseRow, CaseRow.setup == SetupRow.number, isouter=True)
            case = case.where(SetupRow.run == RunRow.number, self.of_cases())
            wanted.append(case.correlate(RunRow).exists())
        return and_(*wanted)

    def of_cases(self) -> ColumnElement[bool]:
        """The condition on SetupRow and CaseRow."""
        return and_(
            SetupRow.number.is_not(None),
            *(COLUMNS[name] == value for name, value in self._of_cases().items()),
        )

    @property
    def has_keys(self) -> bool:
        """Whether `fits` has to be asked, too."""
        return len(self._of_cases()) < len(self.factors)

    def among(self, runs: Sequence[int]) -> Selection:
        """The same of cases, in these runs."""
        return Selection(runs=runs or (_NONE,), factors=self._of_cases())

    def fits(self, document: str) -> bool:
        """Whether a run's document has those factors that are keys of the lab."""
        try:
            spec = json.loads(document).get("spec", {})
        except (ValueError, AttributeError):
            return False
        return all(
            _has(spec, name.split("."), value) for name, value in self.factors.items() if name not in COLUMNS
        )

    def _of_cases(self) -> dict[str, str]:
        return {name: value for name, value in self.factors.items() if name in COLUMNS}


def _has(part: Any, path: Sequence[str], value: str) -> bool:
    """Whether there is that value, or a list with it."""
    if not path:
        found = part if isinstance(part, list) else [part]
        return any(value == (one if isinstance(one, str) else json.dumps(one)) for one in found)
    if isinstance(part, list):
        return any(_has(one, path, value) for one in part)
    return isinstance(part, dict) and path[0] in part and _has(part[path[0]], path[1:], value)
