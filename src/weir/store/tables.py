# SPDX-License-Identifier: Apache-2.0
"""Tables of the result store.

Documents are JSON of the records in `weir.results.result`, each without its children. A case's trials are
rows of their own, written as they finish. Until the case itself is finished its document says only which
frame it is of.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA_VERSION = 1


class Base(DeclarativeBase):
    """All tables of the store."""


class SchemaRow(Base):
    """One row: which version of these tables the database has."""

    __tablename__ = "weir_schema"
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class RunRow(Base):
    """A Result without its setups."""

    __tablename__ = "weir_run"
    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    lab: Mapped[str] = mapped_column(index=True)
    document: Mapped[str] = mapped_column(Text)


class SetupRow(Base):
    """A Setup without its cases."""

    __tablename__ = "weir_setup"
    number: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column(ForeignKey("weir_run.number", ondelete="CASCADE"), index=True)
    document: Mapped[str] = mapped_column(Text)


class CaseRow(Base):
    """A Case without its trials and its curve."""

    __tablename__ = "weir_case"
    number: Mapped[int] = mapped_column(primary_key=True)
    setup: Mapped[int] = mapped_column(ForeignKey("weir_setup.number", ondelete="CASCADE"), index=True)
    frame: Mapped[str]
    finished: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)


class IntervalRow(Base):
    """One interval of a case's soak."""

    __tablename__ = "weir_interval"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = mapped_column(
        "case_number", ForeignKey("weir_case.number", ondelete="CASCADE"), index=True
    )
    document: Mapped[str] = mapped_column(Text)


class TrialRow(Base):
    """A Trial, of the curve or not."""

    __tablename__ = "weir_trial"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = mapped_column(
        "case_number", ForeignKey("weir_case.number", ondelete="CASCADE"), index=True
    )
    in_curve: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)
