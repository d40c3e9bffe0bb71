# SPDX-License-Identifier: Apache-2.0
"""Version 3: lists say which runs a budget ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """It may be empty: a Weir of version 2 that still measures goes on."""
    op.add_column("weir_run", sa.Column("left_out_points", sa.Integer))
    op.execute("UPDATE weir_schema SET version = 3")
