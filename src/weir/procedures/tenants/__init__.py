# SPDX-License-Identifier: Apache-2.0
"""Tenants of a cloud that send at once: what each of them gets through, and where the rest is lost."""
