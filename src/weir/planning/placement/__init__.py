# SPDX-License-Identifier: Apache-2.0
"""What a lab carries as it is placed, and where its functions are placed best."""

from __future__ import annotations
