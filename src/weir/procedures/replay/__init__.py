# SPDX-License-Identifier: Apache-2.0
"""Captures replayed: at recorded times, at a factor, or at a rate; what a chain loses of them."""
