# SPDX-License-Identifier: Apache-2.0
"""What is written for SIPp and functions: whole XML, every placeholder filled, keys that SIPp can read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest

from weir.ims.subscribers import read
from weir.lab.application import Application
from weir.lab.sut import SutFile
from weir.results.calls import RtpCounts
from weir.verify.driver import CloudError, Hosts, HostsWanted
from weir.verify.sip import media, scenarios
from weir.verify.sip.functions import SERVERS, SUBSCRIBERS, constants, filled, functions, needs
from weir.verify.sip.sipp import ANSWER_MS, SET_UP_LAST
from weir.verify.sip.subscribers import Subscribers, key_of

from .made_sip import MadeHosts, MadeSip

PLACEHOLDER = re.compile(r"@[A-Za-z_]+@")
REPLIES = re.compile(r"^onreply_route\[(\w+)\] \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
"""What is done with replies: the name of the route that a request sets, and its body."""
NAMES = {name: "10.0.0.9" for names in SERVERS.values() for name in names}
OWN = {"OWN": "10.0.0.3", "NAME": "n", "DIRECTORY": "/run/n"}


@pytest.mark.parametrize(("hold_s", "with_media"), list(itertools.product((0.0, 0.5), (False, True))))
def test_scenarios_are_whole_xml_with_what_is_wanted(hold_s: float, *, with_media: bool) -> None:
    wanted = Application(hold_s=hold_s, media=with_media, ring_s=0.25)
    caller, callee = scenarios.caller(wanted), scenarios.callee(wanted)
    for text in (caller, callee, scenarios.register(wanted)):
        assert PLACEHOLDER.findall(text) == []
        assert ElementTree.fromstring(text).tag == "scenario"
    assert caller.count("INVITE sip:") == 1
    assert caller.count("CSeq: 2 INVITE") == (1 if hold_s else 0)
    assert callee.count('<recv request="INVITE"') == (2 if hold_s else 1)
    assert ("rtp_stream" in caller) == with_media
    assert ("m=audio 6000" in callee) == with_media
    assert '<pause milliseconds="250"/>' in callee


def waits_ms(scenario: str) -> list[tuple[str, int]]:
    """Of each message that is waited for: how long, which the scenario says or SIPp is told for all."""
    found = ElementTree.fromstring(scenario).iter("recv")
    return [
        (
            one.get("request") or f"{one.get('response')} {one.get('response_txn')}",
            int(one.get("timeout", ANSWER_MS)),
        )
        for one in found
    ]


@pytest.mark.parametrize(("hold_s", "pauses"), [(0.0, [300_000]), (400.0, [300_000, 0, 400_000])])
def test_who_waits_while_the_other_end_pauses_waits_longer_than_that(
    hold_s: float, pauses: list[int]
) -> None:
    wanted = Application(ring_s=40, talk_s=300, hold_s=hold_s)
    caller, callee = waits_ms(scenarios.caller(wanted)), waits_ms(scenarios.callee(wanted))
    assert caller[:3] == [(f"{code} invite", 40_000 + ANSWER_MS) for code in (100, 180, 200)]
    assert {wait_ms for _, wait_ms in caller[3:]} == {ANSWER_MS}
    assert callee[:2] == [("INVITE", ANSWER_MS), ("ACK", ANSWER_MS)]
    assert [wait_ms for _, wait_ms in callee[2:]] == [pause_ms + ANSWER_MS for pause_ms in pauses]


@pytest.mark.parametrize("variant", ["ims", "proxy"])
def test_functions_give_no_call_up_that_rings_as_long_as_was_asked_for(variant: str) -> None:
    application = Application.model_validate({"variant": variant, "ring_s": 60})
    for one in functions(application, Subscribers(10, application.variant)):
        text = filled("\n".join(one.files.values()), constants(application))
        given_up = re.findall(r'"fr_inv_timer", (\d+)', text)
        assert [int(one) > 60_000 + ANSWER_MS for one in given_up] == [True] * (one.server != SUBSCRIBERS)


@pytest.mark.parametrize("variant", ["ims", "proxy"])
def test_files_of_functions_have_every_placeholder_filled(variant: str) -> None:
    application = Application.model_validate({"variant": variant})
    made = functions(application, Subscribers(10, application.variant))
    values = constants(application) | NAMES | OWN
    assert {one.server for one in made} == set(SERVERS[application.variant]) - {"caller", "callee"}
    for one in made:
        for text in (*one.files.values(), *one.words):
            assert PLACEHOLDER.findall(filled(text, values)) == []
        if "diameter.xml" in one.files:
            assert ElementTree.fromstring(filled(one.files["diameter.xml"], values)).tag == "DiameterPeer"


@pytest.mark.parametrize(("hold_s", "with_media"), list(itertools.product((0.0, 0.5), (False, True))))
def test_the_messages_of_a_callers_set_up_come_before_all_others(hold_s: float, *, with_media: bool) -> None:
    scenario = ElementTree.fromstring(scenarios.caller(Application(hold_s=hold_s, media=with_media)))
    set_up = [index for index, one in enumerate(scenario) if one.get("response_txn") == "invite"]
    assert set_up[-1] == SET_UP_LAST
    others = [index for index, one in enumerate(scenario) if one.get("response_txn") in ("hold", "bye")]
    assert min(others) > SET_UP_LAST


def test_a_registration_outlasts_the_longest_case() -> None:
    longest_s = SutFile.model_json_schema()["properties"]["case_time_limit_s"]["anyOf"][0]["maximum"]
    asked_s = re.findall(r"^Expires: (\d+)$", scenarios.register(Application()), re.MULTILINE)
    assert [int(one) for one in asked_s] == [longest_s] * 2
    (scscf,) = [one for one in functions(Application(), Subscribers(10, "ims")) if one.server == "scscf"]
    filled_in = filled(scscf.files["scscf.cfg"], constants(Application()))
    assert f'"max_expires", {longest_s})' in filled_in


@pytest.mark.parametrize("variant", ["ims", "proxy"])
def test_replies_to_calls_are_counted_whatever_else_is_done_with_them(variant: str) -> None:
    application = Application.model_validate({"variant": variant})
    for one in functions(application, Subscribers(10, application.variant)):
        done = dict(REPLIES.findall("\n".join(one.files.values())))
        done.pop("REGISTER", None)
        assert ("INVITED" in done) == (one.server != SUBSCRIBERS)
        assert [name for name, body in done.items() if "route(ANSWERED);" not in body] == []


def test_every_subscriber_of_the_server_is_one_of_sipps_with_the_same_key() -> None:
    made = Subscribers(20, "ims")
    known = {one.public: one for one in read(made.server_file())}
    assert len(known) == 20
    lines = made.callers().splitlines()[1:] + made.callees().splitlines()[1:]
    assert sorted(f"sip:{line.split(';')[0]}@ims.test" for line in lines) == sorted(known)
    for line in lines:
        user = int(line.split(";")[0])
        assert f"aka_K={key_of(user)} " in line
        assert known[f"sip:{user}@ims.test"].milenage.key == key_of(user).encode()
        assert not set(key_of(user)) & set("[]\0 ;")


def test_an_ims_needs_the_packages_of_its_modules_and_a_proxy_does_not() -> None:
    assert "kamailio-ims-modules" in needs(Application()).values()
    assert set(needs(Application(variant="proxy")).values()) == {"kamailio", "sip-tester"}
    assert "iptables" in needs(Application(media=True))


class Counting(MadeHosts):
    """Whose kernels count; as iptables 1.8.9 says it."""

    def run(self, server: str, words: Sequence[str], within_s: float) -> str:  # noqa: ARG002
        if "-A" in words or self.cloud.says:
            return self.cloud.says or ""
        side = {"callerOUTPUT": 40, "calleeINPUT": 39, "calleeOUTPUT": 38, "callerINPUT": 37}
        packets = side[server + words[-1]]
        port = "dpt" if packets > 38 else "spt"
        return (
            f"Chain {words[-1]} (policy ACCEPT 12 packets, 900 bytes)\n"
            "    pkts      bytes target     prot opt in     out     source               destination\n"
            f"      {packets}     8000            udp  --  *      *       0.0.0.0/0            0.0.0.0/0"
            f"            udp {port}:6000\n"
        )


def test_rtp_is_what_the_kernels_of_both_ends_counted() -> None:
    wanted = HostsWanted(("caller", "callee"))
    hosts: Hosts = Counting(MadeSip(), wanted)
    media.begin(hosts)
    now = media.counted(hosts)
    assert now == RtpCounts(sent=40, arrived=39, echoed=38, returned=37)
    assert media.since(now, RtpCounts(sent=10, arrived=9, echoed=8, returned=7)).sent == 30
    with pytest.raises(CloudError, match="does not count RTP"):
        media.counted(Counting(MadeSip(says="nothing"), wanted))
