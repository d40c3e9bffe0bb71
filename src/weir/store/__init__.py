# SPDX-License-Identifier: Apache-2.0
"""The database that keeps results. Nothing is imported here: SQLAlchemy takes long to import."""
