# SPDX-License-Identifier: Apache-2.0
"""Version 5: which runs, one a host, are of one campaign over several."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """`rebuild` fills it from the documents, which have had it all along."""
    op.add_column("weir_run", sa.Column("campaign", sa.String))
    op.create_index("ix_weir_run_campaign", "weir_run", ["campaign"])
    op.execute("UPDATE weir_schema SET version = 5")
