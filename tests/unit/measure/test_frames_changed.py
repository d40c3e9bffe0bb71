# SPDX-License-Identifier: Apache-2.0
"""Trials whose frames did not arrive as they were sent."""

from __future__ import annotations

import pytest

from tests.simulated.tester import SimulatedDut
from weir.measure.trial import Outcome
from weir.protocol.traffic_results import FrameChange, FrameSample, TrafficResult

from .rig import STEADY, Rig


class ChangesFrames(SimulatedDut):
    """Whose receiver found that in its sample of each stream."""

    sample = FrameSample(sampled=8, changed=0)

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        streams = tuple(stream.model_copy(update={"frame_sample": self.sample}) for stream in result.streams)
        return result.model_copy(update={"streams": streams})


def trial(sample: FrameSample) -> Outcome:
    dut = ChangesFrames(STEADY)
    dut.sample = sample
    return Rig(dut).runner().run("search", 1000, 1)


def test_a_trial_whose_sampled_frames_are_as_sent_is_valid() -> None:
    assert trial(FrameSample(sampled=8, changed=0)).trial.valid


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (
            FrameChange(what="length", sequence=67, offset_bytes=18, expected=22, received=18),
            "a payload of 18 bytes, not 22",
        ),
        (
            FrameChange(what="payload", sequence=67, offset_bytes=100, expected=0, received=165),
            "0xa5 in place of 0x00 at byte 100 of its payload",
        ),
        (
            FrameChange(what="trailer", sequence=67, offset_bytes=18, expected=0, received=4),
            "4 bytes behind its IP packet",
        ),
    ],
    ids=lambda value: value.what if isinstance(value, FrameChange) else "",
)
def test_a_trial_whose_frames_changed_is_not_used_and_says_where(first: FrameChange, said: str) -> None:
    outcome = trial(FrameSample(sampled=8, changed=2, first=first))
    assert outcome.has("frames_changed")
    assert not outcome.believable()
    sentence = outcome.trial.invalid_because[0]
    assert sentence.startswith("2 of 8 sampled frames reached tester.right changed (packet 67: ")
    assert said in sentence
