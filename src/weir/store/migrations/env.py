# SPDX-License-Identifier: Apache-2.0
"""Alembic runs this to bring a store up to date: `weir.store.database` says from which version on.

The version that counts is the one in weir_schema, which Weirs before Alembic know too and refuse if it is
newer than theirs; Alembic's own table only repeats it.
"""

from __future__ import annotations

from alembic import context
from alembic.script import ScriptDirectory

from weir.store.rebuild import rebuild
from weir.store.tables import Base

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"], target_metadata=Base.metadata, version_table="weir_revision"
)
context.get_context().stamp(ScriptDirectory.from_config(context.config), str(attributes["found"]))
context.run_migrations()
rebuild(attributes["connection"])
