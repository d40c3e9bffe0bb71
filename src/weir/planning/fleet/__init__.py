# SPDX-License-Identifier: Apache-2.0
"""Many chains on many hosts: who stands where at the least cost, and how far that is from the least possible.

`Search` does it; `instance` says of what. HiGHS solves the linear and integer programs.
"""

from __future__ import annotations
