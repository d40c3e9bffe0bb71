# SPDX-License-Identifier: Apache-2.0
"""Version 6: whether two runs of one lab are of the same keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """`rebuild` fills it from the documents, which have had it all along."""
    op.add_column("weir_run", sa.Column("spec_sha256", sa.String))
    op.execute("UPDATE weir_schema SET version = 6")
