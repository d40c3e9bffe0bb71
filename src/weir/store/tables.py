# SPDX-License-Identifier: Apache-2.0
"""The store's tables.

Documents are JSON of the records in `weir.results.result`, each without its children. A case's trials are
rows of their own, written as they finish. Until the case itself is finished its document says only which
frame it is of. All other columns repeat what documents say, for lists and filters: `rebuild` makes them anew.

A change here needs a new SCHEMA_VERSION and a revision in `migrations/versions`.
"""

from __future__ import annotations

from sqlalchemy import Double, ForeignKey, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA_VERSION = 8


class Base(DeclarativeBase):
    """All tables of the store."""


class SchemaRow(Base):
    """One row: which version of these tables the database has. Weirs of all versions look here."""

    __tablename__ = "weir_schema"
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class RunRow(Base):
    """A Result without its setups."""

    __tablename__ = "weir_run"
    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    lab: Mapped[str] = mapped_column(index=True)
    document: Mapped[str] = mapped_column(Text)
    version: Mapped[int | None]
    started_s: Mapped[float | None] = mapped_column(Double, index=True)
    finished_s: Mapped[float | None] = mapped_column(Double)
    quick: Mapped[bool | None]
    interrupted: Mapped[bool | None]
    left_out_points: Mapped[int | None]
    host: Mapped[str | None] = mapped_column(index=True)
    campaign: Mapped[str | None] = mapped_column(index=True)
    """Over several hosts, each of which has a run of it; None: the run is of one machine alone."""
    weir: Mapped[str | None]
    spec_sha256: Mapped[str | None]
    writer: Mapped[str | None] = mapped_column(Text)
    """Its process, as store/writer.py writes it; of no document."""


NEWEST_FIRST = (RunRow.started_s.desc().nulls_last(), RunRow.number.desc())
"""By when they began, wherever they were measured: an import may bring older runs than there are."""


class TagRow(Base):
    """A user's word for a run."""

    __tablename__ = "weir_tag"
    run: Mapped[int] = mapped_column(ForeignKey("weir_run.number", ondelete="CASCADE"), primary_key=True)
    tag: Mapped[str] = mapped_column(primary_key=True, index=True)


class SetupRow(Base):
    """A Setup without its cases."""

    __tablename__ = "weir_setup"
    number: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column(ForeignKey("weir_run.number", ondelete="CASCADE"), index=True)
    document: Mapped[str] = mapped_column(Text)
    technology: Mapped[str | None]
    variant: Mapped[str | None]
    chain: Mapped[str | None]


class CaseRow(Base):
    """A Case without its trials and its curve."""

    __tablename__ = "weir_case"
    number: Mapped[int] = mapped_column(primary_key=True)
    setup: Mapped[int] = mapped_column(ForeignKey("weir_setup.number", ondelete="CASCADE"), index=True)
    frame: Mapped[str]
    finished: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)


def _of_case() -> Mapped[int]:
    case = ForeignKey("weir_case.number", ondelete="CASCADE")
    return mapped_column("case_number", case, index=True)


class FigureRow(Base):
    """A rate or delay that a finished case found."""

    __tablename__ = "weir_figure"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = _of_case()
    what: Mapped[str]
    unit: Mapped[str]
    samples: Mapped[str] = mapped_column(Text)
    """Their list as JSON; a median says what the run found."""
    tester_bound: Mapped[bool]
    lab_bound: Mapped[bool]
    worse_state: Mapped[bool]
    disturbed: Mapped[bool]


class IntervalRow(Base):
    """One interval of a case's soak."""

    __tablename__ = "weir_interval"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = _of_case()
    document: Mapped[str] = mapped_column(Text)


class TrialRow(Base):
    """A Trial, of the curve or not."""

    __tablename__ = "weir_trial"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = _of_case()
    in_curve: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)


class TrialFactRow(Base):
    """What lists of trials show. Beside them: a hundred of these fit where one document does."""

    __tablename__ = "weir_trial_fact"
    trial: Mapped[int] = mapped_column(
        ForeignKey("weir_trial.number", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    case: Mapped[int] = _of_case()
    purpose: Mapped[str]
    load_pps: Mapped[float] = mapped_column(Double)
    duration_s: Mapped[float] = mapped_column(Double)
    loss_ratio: Mapped[float] = mapped_column(Double)
    valid: Mapped[bool]
