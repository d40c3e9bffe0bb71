# SPDX-License-Identifier: Apache-2.0
"""The host under a lab: its facts, and what of it a lab may change."""
