# SPDX-License-Identifier: Apache-2.0
"""Version 1: documents alone, as Weir made them before Alembic."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """The tables, and no row that says so: no store was made by this."""
    op.create_table("weir_schema", sa.Column("version", sa.Integer, primary_key=True, autoincrement=False))
    op.create_table(
        "weir_run",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("lab", sa.String, nullable=False, index=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "weir_setup",
        sa.Column("number", sa.Integer, primary_key=True),
        _part_of("run", "weir_run"),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "weir_case",
        sa.Column("number", sa.Integer, primary_key=True),
        _part_of("setup", "weir_setup"),
        sa.Column("frame", sa.String, nullable=False),
        sa.Column("finished", sa.Boolean, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "weir_trial",
        sa.Column("number", sa.Integer, primary_key=True),
        _part_of("case_number", "weir_case"),
        sa.Column("in_curve", sa.Boolean, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )


def _part_of(name: str, table: str) -> sa.Column[int]:
    whole = sa.ForeignKey(f"{table}.number", ondelete="CASCADE")
    return sa.Column(name, sa.Integer, whole, nullable=False, index=True)
