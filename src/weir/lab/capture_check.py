# SPDX-License-Identifier: Apache-2.0
"""What is impossible about the captures of a lab, but for the files themselves, which weir-dp reads."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.frames import CAPTURE
from weir.lab.lab import Lab
from weir.lab.source import KeyPath

_HERE: KeyPath = ("traffic", "capture")
_FRAMES: KeyPath = ("traffic", "frames")


def capture_complaints(lab: Lab) -> Iterator[Complaint]:
    """Of the whole lab."""
    traffic, capture = lab.traffic, lab.traffic.capture
    sizes = [frame for frame in traffic.frames if frame != CAPTURE]
    if capture is None:
        if len(sizes) < len(traffic.frames):
            expected = "the files there, or sizes alone"
            yield Complaint(
                _FRAMES, "names `capture`, and traffic.capture is absent", expected, about=(_HERE,)
            )
        if traffic.pacing == "recorded":
            message, expected = "is `recorded`, and no capture is sent", "constant or poisson"
            yield Complaint(("traffic", "pacing"), message, expected, about=(_HERE,))
        return
    if len(sizes) == len(traffic.frames):
        message, expected = "is not sent: traffic.frames has sizes alone", "`capture` among the frames"
        yield Complaint(_HERE, message, expected, about=(_FRAMES,))
    if traffic.pacing == "recorded" and sizes:
        message = f"is `recorded`, and frames of {sizes[0]} were not captured"
        expected = "constant or poisson, or the capture alone"
        yield Complaint(("traffic", "pacing"), message, expected, about=(_FRAMES,))
    yield from _ends(lab)
    if lab.measure.latency is not None and not capture.stamp:
        message, expected = (
            "is not known of frames without a stamp",
            "`stamp: true` in traffic.capture, or none",
        )
        yield Complaint(("measure", "latency"), message, expected, about=(_HERE,))


def _ends(lab: Lab) -> Iterator[Complaint]:
    capture, both = lab.traffic.capture, lab.tester.direction == "bidirectional"
    assert capture is not None
    about: tuple[KeyPath, ...] = (("tester", "direction"), _HERE)
    if capture.left is None:
        yield Complaint((*_HERE, "left"), "is absent", "a file for the left end", about=about)
    if capture.right is None and both:
        message = "is absent, and traffic is bidirectional"
        expected = "a file for the right end, or `tester: {direction: left-to-right}`"
        yield Complaint((*_HERE, "right"), message, expected, about=about)
    if capture.right is not None and not both:
        message = "is never sent: traffic runs left to right alone"
        yield Complaint((*_HERE, "right"), message, "tester.direction bidirectional, or none", about=about)
