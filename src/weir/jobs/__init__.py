# SPDX-License-Identifier: Apache-2.0
"""Whole jobs: each wires the parts for a command. They know all parts; no part knows them."""
