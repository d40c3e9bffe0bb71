# SPDX-License-Identifier: Apache-2.0
"""Version 4: of a run that is not finished, whether its program still measures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """It is empty of runs that were begun before."""
    op.add_column("weir_run", sa.Column("writer", sa.Text))
    op.execute("UPDATE weir_schema SET version = 4")
