# SPDX-License-Identifier: Apache-2.0
"""The tester of a cloud: where it sends and receives, as whom, and who works on which core."""

from __future__ import annotations

import pytest

from weir.base.cloud import CloudTopology
from weir.lab.tenants import Cloud, IngressRule, Tenant, TenantFunction, TenantsFile
from weir.lab.tenants_measure import (
    DISCARD_PORT,
    Background,
    TenantsCores,
    TenantsMeasure,
    TenantsTester,
    TenantsTraffic,
)
from weir.plan import PlanError
from weir.plan.cloud import cloud_steps, cloud_topology, measured_topology
from weir.plan.cloud.data_plane import cloud_configuration
from weir.plan.cloud.loopback import loopback_lab
from weir.plan.cloud.tester import RECEIVER, direction_of, tenant_streams
from weir.plan.streams import frame_size

DEPLOYMENT = "cloud-12345678"
TENANTS = TenantsFile(
    weir=1,
    name="cloud",
    tenants=(
        Tenant(name="blue", instances=2),
        Tenant(name="red", count=2, functions=(TenantFunction(name="dpi"), TenantFunction(name="fw"))),
    ),
    traffic=TenantsTraffic(frames=("64",), flows=8),
    measure=TenantsMeasure(seed=3),
)


def measured(cpus: tuple[int, ...] = (0, 1, 2), cores: TenantsCores | None = None) -> CloudTopology:
    tenants = TENANTS.model_copy(update={"cores": cores or TenantsCores()})
    return measured_topology(tenants, DEPLOYMENT, cpus)


def test_a_function_is_no_host_that_could_send_also_where_it_forwards_for_nobody() -> None:
    alone = Tenant(name="blue", instances=0, functions=(TenantFunction(name="dpi"),))
    tenants = TENANTS.model_copy(update={"tenants": (alone,)})
    (network,) = cloud_topology(tenants, DEPLOYMENT).tenant_networks
    assert [one.name for one in network.functions] == ["blue.dpi"]
    with pytest.raises(PlanError, match="blue has no instance that could send or receive"):
        measured_topology(tenants, DEPLOYMENT, (0, 1))


def test_the_first_core_is_the_testers_and_all_others_are_the_systems() -> None:
    tester = measured((4, 2, 7)).tester
    assert tester is not None
    assert (tester.core, tester.system_cores) == (2, (4, 7))
    assert tester.senders == ("blue.1", "red-1.1", "red-2.1")
    chosen = measured(cores=TenantsCores(tester=2, system=(1,))).tester
    assert chosen is not None
    assert (chosen.core, chosen.system_cores) == (2, (1,))


@pytest.mark.parametrize(
    ("cpus", "cores", "said"),
    [
        ((0,), TenantsCores(), "on two CPUs or more"),
        ((0, 1), TenantsCores(system=(5,)), "gives no CPU 5"),
        ((0, 1), TenantsCores(tester=9), "gives no CPU 9"),
    ],
)
def test_cores_that_are_not_there_are_refused(cpus: tuple[int, ...], cores: TenantsCores, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        measured(cpus, cores)


def test_a_cloud_to_talk_through_has_no_step_of_a_tester_and_pins_nothing() -> None:
    steps = cloud_steps(cloud_topology(TENANTS, DEPLOYMENT))
    assert not {"weir-dp", "steering"} & {step.kind for step in steps}
    assert all(step.params["cores"] == [] for step in steps if step.kind == "ovs-vswitchd")


def test_switches_and_the_kernel_work_on_the_systems_cores_and_weir_dp_on_its_own() -> None:
    steps = cloud_steps(measured())
    assert all(step.params["cores"] == [1, 2] for step in steps if step.kind == "ovs-vswitchd")
    (steering,) = [step for step in steps if step.kind == "steering"]
    assert steering.params["interfaces"] == ["tap1.1", "tap2.1", "tap3.1"]
    assert steering.params["cores"] == [1, 2]
    (started,) = [step for step in steps if step.kind == "weir-dp"]
    assert started.params["cores"] == [0]
    assert started is steps[-1]


def test_a_generator_is_at_each_sending_host_and_a_receiver_outside() -> None:
    topology = measured()
    made = cloud_configuration(topology)
    assert [port.name for port in made.ports] == ["blue.1", "red-1.1", "red-2.1", RECEIVER]
    assert {port.netns for port in made.ports} == {
        f"/run/netns/{topology.namespace(port.name)}" for port in made.ports
    }
    kinds = [(area.kind, getattr(area, "port", None)) for area in made.areas]
    senders = [("generator", name) for name in ("blue.1", "red-1.1", "red-2.1")]
    assert kinds == [*senders, ("receiver", RECEIVER)]
    assert {area.core for area in made.areas} == {0}


def test_packets_are_those_that_the_hosts_stack_would_send() -> None:
    topology = measured()
    streams = tenant_streams(topology, TENANTS, "64", 2).streams
    assert [(one.id, one.port, one.to) for one in streams] == [
        (0, "blue.1", RECEIVER),
        (1, "red-1.1", RECEIVER),
    ]
    blue, red = (one.template for one in streams)
    assert blue.dst_mac == topology.tenant_networks[0].router_mac
    assert red.dst_mac == topology.tenant_networks[1].functions[0].mac
    assert (blue.src_mac, blue.src_ip) == (
        topology.tenant_networks[0].instances[0].mac,
        topology.tenant_networks[0].instances[0].address,
    )
    assert {(one.template.dst_ip, one.template.dst_port) for one in streams} == {
        (topology.outside, DISCARD_PORT)
    }
    assert [one.flows.seed for one in streams if one.flows] == [3, 4]
    assert all(one.flows is not None and one.flows.vary == ("src_port",) for one in streams)


def test_commands_run_in_their_function_once_it_has_its_address() -> None:
    shaper = TenantFunction(
        name="shaper", commands=("tc -s qdisc", ("nft", "-f", "my rules")), directory="/x"
    )
    tenants = TENANTS.model_copy(update={"tenants": (Tenant(name="blue", functions=(shaper,)),)})
    topology = cloud_topology(tenants, DEPLOYMENT)
    kinds = [step.kind for step in cloud_steps(topology)]
    (step,) = [step for step in cloud_steps(topology) if step.kind == "commands"]
    assert step.params["netns"] == topology.namespace("blue.shaper")
    assert step.params["commands"] == ["tc -s qdisc", "nft -f 'my rules'"]
    assert (step.params["directory"], step.params["time_limit_ms"]) == ("/x", 30_000)
    assert kinds.index("dhcp-leases") < kinds.index("commands") < kinds.index("cloud-hosts")


def test_background_comes_from_those_who_are_not_sending_in_frames_of_its_own() -> None:
    tenants = TENANTS.model_copy(
        update={"measure": TenantsMeasure(sending=(1, 2), background=Background(load=500, frame=1000))}
    )
    topology = measured_topology(tenants, DEPLOYMENT, (0, 1))
    assert topology.tester is not None
    assert topology.tester.senders == ("blue.1", "red-1.1", "red-2.1")
    streams = tenant_streams(topology, tenants, "64", 2).streams
    wanted = {"blue.1": "64", "red-1.1": "64", "red-2.1": "1000"}
    assert {one.port: one.frame for one in streams} == {
        name: frame_size(frame) for name, frame in wanted.items()
    }


def reached(direction: str, *, shared: bool = False) -> tuple[TenantsFile, CloudTopology]:
    """Tenants that have floating addresses, one of them off what the other shares."""
    rule = IngressRule(protocol="udp")
    plain = Tenant(name="plain", floating=1, ingress=(rule,), shared=False)
    through = Tenant(name="through", floating=1, ingress=(rule,), functions=(TenantFunction(name="dpi"),))
    functions = (TenantFunction(name="dpi"), TenantFunction(name="fw")) if shared else ()
    tenants = TENANTS.model_copy(
        update={
            "tenants": (plain, through),
            "tester": TenantsTester.model_validate({"direction": direction}),
            "cloud": Cloud(functions=functions),
        }
    )
    return tenants, measured_topology(tenants, DEPLOYMENT, (0, 1, 2))


def test_from_outside_packets_go_to_floating_addresses_by_the_next_hop_there() -> None:
    tenants, topology = reached("right-to-left", shared=True)
    streams = tenant_streams(topology, tenants, "64", 2).streams
    assert [(one.id, one.port, one.to) for one in streams] == [
        (0, RECEIVER, "plain.1"),
        (1, RECEIVER, "through.1"),
    ]
    plain, through = (one.template for one in streams)
    assert topology.shared is not None
    assert plain.dst_mac == topology.tenant_networks[0].external_mac
    assert through.dst_mac == topology.shared.functions[-1].mac
    assert [one.dst_ip for one in (plain, through)] == [
        one.hosts[0].floating for one in topology.tenant_networks
    ]
    assert {(one.src_mac, one.src_ip, one.dst_port) for one in (plain, through)} == {
        (topology.outside_mac, topology.outside, DISCARD_PORT)
    }
    (outside,) = [step for step in cloud_steps(topology) if step.name == "interface:outside.eth0"]
    assert outside.params["mac"] == topology.outside_mac


def test_in_both_directions_each_tenant_has_two_streams_and_every_end_sends_and_receives() -> None:
    tenants, topology = reached("bidirectional")
    streams = tenant_streams(topology, tenants, "64", 2).streams
    assert [(one.id, one.port, one.to, direction_of(one)) for one in streams] == [
        (0, "plain.1", RECEIVER, "left-to-right"),
        (1, RECEIVER, "plain.1", "right-to-left"),
        (2, "through.1", RECEIVER, "left-to-right"),
        (3, RECEIVER, "through.1", "right-to-left"),
    ]
    made = {(area.kind, getattr(area, "port", None)) for area in cloud_configuration(topology).areas}
    ends = ("plain.1", "through.1", RECEIVER)
    assert made == {(kind, end) for kind in ("generator", "receiver") for end in ends}
    assert topology.tester is not None
    alone = loopback_lab(tenants.name, topology.tester, tenants.traffic.flows, ["64"])
    assert alone.tester.direction == "bidirectional"


def test_the_kernel_works_on_the_systems_cores_where_packets_come_in_and_what_was_counted_is_discarded() -> (
    None
):
    wanted = {
        "left-to-right": ({"steering:compute1": ["tap1.1", "tap2.1"]}, {"outside"}),
        "right-to-left": ({"steering:network": ["eth2"]}, {"outside", "plain.1", "through.1"}),
        "bidirectional": (
            {"steering:network": ["eth2"], "steering:compute1": ["tap1.1", "tap2.1"]},
            {"outside", "plain.1", "through.1"},
        ),
    }
    for direction, (steered, discarding) in wanted.items():
        _, topology = reached(direction)
        steps = cloud_steps(topology)
        found = {one.name: one.params["interfaces"] for one in steps if one.kind == "steering"}
        assert found == steered
        rules = [one for one in steps if one.kind == "ruleset" and "--dport 9 -j DROP" in str(one.params)]
        assert {str(one.params["netns"]).rpartition("12345678-")[2] for one in rules} == discarding


def test_steps_have_names_of_their_own_where_weir_routes_and_packets_come_from_outside() -> None:
    tenants, _ = reached("bidirectional")
    cloud = tenants.cloud.model_copy(update={"router": "weir"})
    topology = measured_topology(tenants.model_copy(update={"cloud": cloud}), DEPLOYMENT, (0, 1))
    every = [step.name for step in cloud_steps(topology)]
    assert {"steering:network", "steering:routers"} <= set(every)
    assert len(every) == len(set(every))


def test_the_data_plane_has_memory_for_the_packets_of_every_stream() -> None:
    """Each has a pool of its own, of 256 KiB at most (native/traffic/streams_test.c)."""
    rule = IngressRule(protocol="udp")
    memory_mb, rings_frames = {}, {}
    for count in (4, 64):
        tenants = TENANTS.model_copy(
            update={
                "tenants": (Tenant(name="t", count=count, floating=1, ingress=(rule,)),),
                "tester": TenantsTester(direction="right-to-left"),
            }
        )
        topology = measured_topology(tenants, DEPLOYMENT, (0, 1))
        (started,) = [step for step in cloud_steps(topology) if step.kind == "weir-dp"]
        memory_mb[count] = int(str(started.params["memory_mb"]))
        rings_frames[count] = sum(one.rx_queue_size for one in cloud_configuration(topology).ports)
    assert memory_mb[64] - memory_mb[4] == 60 * 256 // 1024
    # The rings' memory is the kernel's: many of them are shorter.
    assert rings_frames[64] / rings_frames[4] < 64 / 4 / 3
