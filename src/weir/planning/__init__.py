# SPDX-License-Identifier: Apache-2.0
"""Rates and delays that were never measured, and plans made of them: by a cost model of this machine, by a
published one, or for a whole fleet. `model`, `queueing`, `fleet` and `kernel_vnf` are pure."""

from __future__ import annotations
