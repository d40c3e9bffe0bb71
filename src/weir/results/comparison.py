# SPDX-License-Identifier: Apache-2.0
"""Records of a run that compares ways to run a lab: what became of each on the host, and what it reduced."""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record

DelayMeasure = Literal["mean", "p99", "max", "ipdv_mean", "ipdv_max", "jitter_max"]


class HostSetting(Record):
    """One key of the lab's `host`, and what became of it on this machine."""

    key: str
    """As the lab writes it: "isolation"; also "pmd_cores" and "lcores" of ovs-dpdk."""
    asked: str | None
    """The lab's value: "auto", "partition"; None: the lab says nothing."""
    applied: bool
    """It held while packets flowed."""
    why: str | None = None
    """Why it was asked for and not done, or what of it was not done."""


class Shortfall(Record):
    """Something of the machine that no lab key could change."""

    subject: str
    """As `weir doctor` calls it: "c-states"."""
    what: str
    """What is, in words."""


class Reduction(Record):
    """One part of the delay at one load, against the baseline in the rounds next to it."""

    chain: str
    frame: str
    load: str
    """As the lab says it."""
    way: str
    """The technology or variant."""
    baseline: str
    """The technology or variant that it is compared with."""
    measure: DelayMeasure
    """Of the worse direction. ipdv: without its sign (RFC 5481); jitter: RFC 3550."""
    baseline_us: float
    """Median over the rounds."""
    found_us: float
    """Likewise."""
    reduction: float
    """Always 1 - found / baseline, each round by itself: the median. Below 0: it grew."""
    reduction_min: float
    reduction_max: float
    rounds: int
    """In which both were measured validly."""
    same_load: bool
    """Both carried the same load, within 1 %."""
    loss_ratio: float
    """The higher one of both, over all rounds."""
