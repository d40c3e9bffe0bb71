# SPDX-License-Identifier: Apache-2.0
"""Version 8: whether a rate is all that `measure.max_load_pps` of the lab lets be sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Runs before it do not say so, and are taken for exact, as they were."""
    op.add_column(
        "weir_figure", sa.Column("lab_bound", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE weir_schema SET version = 8")
