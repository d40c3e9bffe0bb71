# SPDX-License-Identifier: Apache-2.0
"""Connections: how many new ones a second, and how many at once, a chain carries (RFC 9411)."""
