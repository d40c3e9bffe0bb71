# SPDX-License-Identifier: Apache-2.0
"""Soaks: load for hours, looked at every interval, gone on with after an interruption."""
