# SPDX-License-Identifier: Apache-2.0
"""How long whoever takes part in a campaign over hosts waits for whom. Each may be given up by two others,
and who knows better why has to be the first: so these depend on each other. tests/unit/hosts/test_times.py
holds the inequalities."""

from __future__ import annotations

QUESTION_S = 1.0
"""A courier is asked what its program has said, and has so long until there is something."""
ANSWER_S = 15.0
"""So much later its answer may come; then its host is lost.

QUESTION_S + ANSWER_S < UNASKED_S: whom the head still waits for has not taken the head for gone."""
UNASKED_S = 30.0
"""So long nobody has asked a courier: the head is gone, or cannot be reached. Its program is ended."""
COURIER_S = 60.0
"""Ray has to start a courier, in addition to its first answer.

COURIER_S + QUESTION_S + ANSWER_S < OFFERS_S: without a courier a host is lost for that, not for silence."""
OFFERS_S = 90.0
"""All hosts of a campaign have to say what they offer, from its beginning."""
PROGRAM_ENDS_S = 60.0
"""A program whose input has ended has to take down what it has built; then it is killed, and its lifeline
does that."""
COURIERS_END_S = 90.0
"""All couriers have to end their programs, at the end of a campaign.

PROGRAM_ENDS_S < COURIERS_END_S: Ray must not kill a courier that still waits for its program."""
HOSTS_END_S = 120.0
"""Hosts that are stopped have to take down what they have built.

PROGRAM_ENDS_S < HOSTS_END_S; procedures.parts.DOWN_S < HOSTS_END_S: the tester's host waits so long for the
others."""
FIRST_ANSWER_S = 15.0
"""A head has to answer in that, before Ray is asked, which would ask it for minutes."""
CLUSTER_HEAD_S = 30.0
"""The head of a Ray cluster may be out of reach.

CLUSTER_HEAD_S + LOOK_AT_HEAD_S + CONNECT_S < RAY_ENDS_S: what is to be said is said before."""
LOOK_AT_HEAD_S, CONNECT_S = 5.0, 2.0
"""So often that is looked at, and so long each look takes at most."""
RAY_ENDS_S = 60.0
"""Then Ray ends processes for that, without a word: Ray's own, not to be set here."""
