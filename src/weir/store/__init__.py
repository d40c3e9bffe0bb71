# SPDX-License-Identifier: Apache-2.0
"""The database that keeps results, and the file that keeps the cost model. Nothing is imported here:
SQLAlchemy takes long to import."""
