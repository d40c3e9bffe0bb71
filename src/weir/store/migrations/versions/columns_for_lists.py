# SPDX-License-Identifier: Apache-2.0
"""Version 2: what lists show and filters ask for has columns of its own; tags; figures; facts of trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Columns may be empty: a Weir of version 1 that still measures goes on, and nothing of it is lost."""
    for table, columns in (
        (
            "weir_run",
            (
                sa.Column("version", sa.Integer),
                sa.Column("started_s", sa.Double),
                sa.Column("finished_s", sa.Double),
                sa.Column("quick", sa.Boolean),
                sa.Column("interrupted", sa.Boolean),
                sa.Column("host", sa.String),
                sa.Column("weir", sa.String),
            ),
        ),
        ("weir_setup", tuple(sa.Column(name, sa.String) for name in ("technology", "variant", "chain"))),
    ):
        for column in columns:
            op.add_column(table, column)
    op.create_index("ix_weir_run_started_s", "weir_run", ["started_s"])
    op.create_index("ix_weir_run_host", "weir_run", ["host"])
    op.create_table(
        "weir_tag",
        sa.Column("run", sa.Integer, _part_of("weir_run"), primary_key=True),
        sa.Column("tag", sa.String, primary_key=True, index=True),
    )
    # Weirs of version 1 made this one without a new version.
    if not sa.inspect(op.get_bind()).has_table("weir_interval"):
        op.create_table(
            "weir_interval",
            sa.Column("number", sa.Integer, primary_key=True),
            sa.Column("case_number", sa.Integer, _part_of("weir_case"), nullable=False, index=True),
            sa.Column("document", sa.Text, nullable=False),
        )
    op.create_table(
        "weir_figure",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("case_number", sa.Integer, _part_of("weir_case"), nullable=False, index=True),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("unit", sa.String, nullable=False),
        sa.Column("samples", sa.Text, nullable=False),
        sa.Column("tester_bound", sa.Boolean, nullable=False),
        sa.Column("worse_state", sa.Boolean, nullable=False),
    )
    op.create_table(
        "weir_trial_fact",
        sa.Column("trial", sa.Integer, _part_of("weir_trial"), primary_key=True, autoincrement=False),
        sa.Column("case_number", sa.Integer, _part_of("weir_case"), nullable=False, index=True),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("load_pps", sa.Double, nullable=False),
        sa.Column("duration_s", sa.Double, nullable=False),
        sa.Column("loss_ratio", sa.Double, nullable=False),
        sa.Column("valid", sa.Boolean, nullable=False),
    )
    op.execute("UPDATE weir_schema SET version = 2")


def _part_of(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{table}.number", ondelete="CASCADE")
