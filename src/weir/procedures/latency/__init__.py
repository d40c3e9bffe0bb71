# SPDX-License-Identifier: Apache-2.0
"""Delays at given loads (RFC 5481, RFC 3550), and what compared set-ups change of them."""
