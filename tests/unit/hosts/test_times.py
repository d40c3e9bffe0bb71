# SPDX-License-Identifier: Apache-2.0
"""Who gives whom up first, where several wait for the same."""

from __future__ import annotations

from weir.hosts import times
from weir.procedures import parts


def test_a_host_that_the_head_still_waits_for_has_not_given_the_head_up() -> None:
    assert times.QUESTION_S + times.ANSWER_S < times.UNASKED_S


def test_a_host_that_gets_no_courier_is_given_up_for_that_and_not_for_its_silence() -> None:
    assert times.COURIER_S + times.QUESTION_S + times.ANSWER_S < times.OFFERS_S


def test_whoever_waits_for_an_end_waits_longer_than_that_may_take() -> None:
    assert times.PROGRAM_ENDS_S < times.COURIERS_END_S
    assert max(times.PROGRAM_ENDS_S, parts.DOWN_S) < times.HOSTS_END_S


def test_that_the_clusters_head_is_gone_is_said_before_ray_ends_the_campaign() -> None:
    assert times.CLUSTER_HEAD_S + times.LOOK_AT_HEAD_S + times.CONNECT_S < times.RAY_ENDS_S
