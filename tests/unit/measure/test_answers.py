# SPDX-License-Identifier: Apache-2.0
"""When the tester learns whom it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tests.simulated.tester import SimulatedDut
from weir.measure.tester import MAPPED_S, Answers, Traffic
from weir.protocol.traffic import FlowConfig, FrameSize, StreamConfig, Template, TrafficConfigure
from weir.protocol.traffic_results import LatencySummary, Learned, StreamResult, TrafficResult

from .rig import STEADY
from .rig import Rig as Rigged

if TYPE_CHECKING:
    from weir.measure.tester import Tester

FLOWS = 100
MAC = "02:57:00:00:00:01"
NO_DELAY = dict.fromkeys(LatencySummary.model_fields, 0)


def traffic(**flows: object) -> Traffic:
    made = FlowConfig.model_validate({"count": FLOWS, "vary": ("src_ip",), **flows})
    template = Template(src_mac=MAC, dst_mac=MAC, src_ip="198.18.0.1", dst_ip="198.19.0.1")
    ends = (("tester.left", "tester.right", None), ("tester.right", "tester.left", 0))
    streams = tuple(
        StreamConfig(
            id=number,
            port=port,
            to=to,
            frame=FrameSize(bytes=128),
            template=template,
            flows=made,
            answers=whom,
        )
        for number, (port, to, whom) in enumerate(ends)
    )
    return Traffic.from_config("128", 128, TrafficConfigure(streams=streams))


def sent(packets: int) -> TrafficResult:
    return TrafficResult.model_validate(
        {
            "run": 1,
            "tx_duration_ns": 1,
            "streams": [
                StreamResult.model_validate(
                    {
                        "id": number,
                        "intended": packets,
                        "offered": packets,
                        "tx_refused": 0,
                        "delivered": packets,
                        "latency": NO_DELAY,
                    }
                )
                for number in (0, 1)
            ],
        }
    )


@dataclass
class Rig:
    """Answers, their tester and its clock."""

    arrived: int = FLOWS
    translated: int = FLOWS
    answers_any: bool = True
    now_s: float = 0.0
    learned: int = 0
    of: Traffic = field(default_factory=traffic)

    def __post_init__(self) -> None:
        self.answers = Answers(cast("Tester", self), self.of, lambda: self.now_s)

    def learn(self, config: TrafficConfigure, _most_pps: float = math.inf) -> Learned | None:
        assert config is self.of.config
        self.learned += 1
        found = Learned(flows=FLOWS, arrived=self.arrived, translated=self.translated)
        return found if self.answers_any else None

    def learned_after(self, *pauses_s: float, packets: int = FLOWS) -> int:
        """In trials after such pauses."""
        for pause_s in pauses_s:
            self.now_s += pause_s
            self.answers.learn()
            self.answers.sent(sent(packets))
        return self.learned


def test_flows_are_learned_once_while_trials_keep_their_mappings() -> None:
    assert Rig().learned_after(0, *[MAPPED_S - 1] * 5) == 1


def test_they_are_learned_again_after_a_pause_in_which_mappings_may_have_ended() -> None:
    assert Rig().learned_after(0, MAPPED_S + 1, 1) == 2


def test_trials_that_do_not_send_each_flow_keep_nothing() -> None:
    assert Rig().learned_after(0, *[MAPPED_S / 2 + 1] * 4, packets=FLOWS - 1) == 3
    drawn = Rig(of=traffic(distribution="zipf"))
    assert drawn.learned_after(0, *[MAPPED_S / 2 + 1] * 4) == 3


def test_where_nothing_is_translated_it_is_asked_once() -> None:
    assert Rig(translated=0).learned_after(0, 1000, 1000) == 1
    assert Rig(answers_any=False).learned_after(0, 1000, 1000) == 1


def test_where_nothing_arrives_it_is_asked_again_later() -> None:
    assert Rig(arrived=0, translated=0).learned_after(0, 1000, 1000) == 3


class Learning(SimulatedDut):
    """Translates, and notes when it is asked."""

    learned = 0

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned:
        assert (len(config.streams), most_pps) == (2, 400)
        self.learned += 1
        return Learned(flows=FLOWS, arrived=FLOWS, translated=FLOWS)


def test_what_was_learned_before_a_trial_is_not_learned_in_it() -> None:
    """Whoever counts from before a trial on counts no flows that were learned in between."""
    dut = Learning(STEADY)
    runner = Rigged(dut).runner()
    runner.learn(400)
    assert (dut.learned, dut.asked) == (1, [])
    runner.run("soak", 400, 0.1)
    assert (dut.learned, len(dut.asked)) == (1, 1)
