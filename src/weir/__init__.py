# SPDX-License-Identifier: Apache-2.0
"""Weir: build, load, measure and explain NFV service chains."""

__version__ = "0.1.0"
