# SPDX-License-Identifier: Apache-2.0
"""Version 7: whether others had cores for much of the time that a rate rests on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """`rebuild` makes all figures anew from the documents, which have had it all along."""
    op.add_column(
        "weir_figure", sa.Column("disturbed", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE weir_schema SET version = 7")
