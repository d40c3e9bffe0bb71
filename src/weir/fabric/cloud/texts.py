# SPDX-License-Identifier: Apache-2.0
"""Lists of texts, as steps have them in their parameters."""

from __future__ import annotations


def texts(listed: object) -> list[str]:
    """Of a parameter that is a list."""
    assert isinstance(listed, list)
    return [str(one) for one in listed]
