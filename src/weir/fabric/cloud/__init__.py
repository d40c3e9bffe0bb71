# SPDX-License-Identifier: Apache-2.0
"""Clouds of tenants: their step kinds, and what stands."""
