# SPDX-License-Identifier: Apache-2.0
"""Drop counters in the text of `dpctl/show -s`."""

from weir.fabric.counters import not_sent, parse

SHOWN = """netdev@ovs-netdev:
  lookups: hit:90 missed:10 lost:3
  port 0: ovs-netdev (tap)
    RX packets:0 errors:0 dropped:7 overruns:0 frame:0
    TX packets:0 errors:0 dropped:0 aborted:0 carrier:0
  port 1: tester.left (dpdkvhostuserclient: configured_rx_queues=1)
    RX packets:100 errors:0 dropped:0 overruns:? frame:?
    TX packets:40 errors:0 dropped:60 aborted:? carrier:?
"""


def test_drops_and_packets_of_the_chains_ports() -> None:
    found = {(counter.place, counter.reason): counter.value for counter in parse(SHOWN, {"tester.left"})}
    assert found["switch", "upcall_lost"] == 3
    assert found["switch lookups", None] == 100
    assert found["switch:tester.left rx_packets", None] == 100
    assert not any("ovs-netdev" in place for place, _reason in found)


def test_a_full_queue_is_a_drop_of_the_port() -> None:
    found = {(counter.place, counter.reason): counter.value for counter in parse(SHOWN, {"tester.left"})}
    assert found["switch:tester.left tx_packets", None] == 40
    assert found["switch:tester.left", "tx_queue_full"] == 60


def test_what_the_datapath_gave_to_no_interface_was_not_sent() -> None:
    ends = [{"tx_packets": 50, "tx_dropped": 10}, {"tx_packets": 30, "tx_dropped": 0}]
    found = not_sent(SHOWN, ends)
    assert found is not None
    assert (found.reason, found.value) == ("not_sent", 100 - 3 - 90)
