# SPDX-License-Identifier: Apache-2.0
"""Rates, times and seeds as options say them: `--rate 2Mpps`, `--link 10G`, `--duration 16h`."""

from __future__ import annotations

from weir.cli.exits import USAGE, CommandError

LINK_BPS = (10e6, 1.6e12)
SEED_MOST = 2**63 - 1
"""The greatest whole number that a store keeps."""


def link_bps(text: str) -> float:
    """Of `--link`. CommandError says what is expected."""
    return _bps("--link", text)


def bandwidth_bps(text: str) -> float:
    """Of `--bandwidth`. CommandError says what is expected."""
    return _bps("--bandwidth", text)


def _bps(option: str, text: str) -> float:
    from weir.lab.units import BPS, quantity

    low, high = LINK_BPS
    try:
        bps = quantity(text, BPS, "bps")
    except ValueError:
        bps = 0.0
    if not low <= bps <= high:
        raise CommandError(
            f"{option} {text}: expected a rate from 10M to 1.6T, such as 10G or 25Gbit/s", USAGE
        )
    return bps


def rate_pps(text: str) -> float:
    """Of `--rate`. CommandError says what is expected."""
    from weir.lab.units import PPS, quantity

    try:
        pps = quantity(text, PPS, "pps")
    except ValueError as error:
        raise CommandError(f"--rate {text}: {error}", USAGE) from None
    if pps <= 0:
        raise CommandError(f"--rate {text}: expected a rate above 0", USAGE)
    return pps


def seconds(option: str, text: str, least: float, most: float, *, why: str = "") -> float:
    """Of a time. CommandError says what is expected; `why`: what the least comes from."""
    from weir.lab.units import SECONDS, quantity

    try:
        found = quantity(text, SECONDS, "s")
    except ValueError as error:
        raise CommandError(f"{option} {text}: {error}", USAGE) from error
    if not least <= found <= most:
        raise CommandError(f"{option} {text}: expected {_said(least)}{why} to {_said(most)}", USAGE)
    return found


def _said(seconds: float) -> str:
    """As one would write it: "168h", "30s"."""
    unit, name = next((one for one in ((3600, "h"), (60, "min")) if seconds % one[0] == 0), (1, "s"))
    return f"{seconds / unit:g}{name}"
