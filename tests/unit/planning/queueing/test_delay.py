# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.planning.queueing.measured import Errors, errors
from tests.unit.planning.queueing.random_networks import PPS, random_network
from tests.unit.planning.queueing.simulated import draw, events, polled, recursion
from weir.planning.queueing import Arrivals, Queue, delay
from weir.planning.queueing.delay import loss
from weir.planning.queueing.network import network

TOLERANCE = 0.03
NETWORKS = 60
EXACT_TO = 0.0075
"""Half width of the simulation's 95 % interval of the mean delay: a quarter of the tolerance."""


def alone(**changes: object) -> Queue:
    return replace(
        Queue("server", 0, service_us=1.0, service_scv=1.0, outside=1.0, one_by_one=True),
        **changes,  # type: ignore[arg-type]
    )


def of_network(seed: int, most_load: float, packets: int) -> Errors:
    random = np.random.default_rng(seed)
    queues = random_network(random, float(random.uniform(0.3, most_load)))
    return errors(queues, PPS, random, exact_to=EXACT_TO, packets=packets, rounds_most=200)


def test_one_exponential_server_is_kleinrocks() -> None:
    found = delay([alone()], 0.8e6)
    assert found.mean_us == pytest.approx(5.0)
    assert found.p50_us == pytest.approx(5.0 * np.log(2), rel=0.01)
    assert found.p99_us == pytest.approx(5.0 * np.log(100), rel=0.01)
    assert found.queues["server"].packets == pytest.approx(4.0)


def test_constant_service_waits_half_as_long_as_exponential() -> None:
    assert delay([alone(service_scv=0.0)], 0.8e6).mean_us == pytest.approx(1 + 2.0)


def test_a_polling_core_that_is_nearly_idle_costs_half_a_turn() -> None:
    found = delay([alone(service_scv=0.0, one_by_one=False, poll_us=0.4)], 1.0)
    assert found.mean_us == pytest.approx(0.2 + 0.4 + 1.0, rel=1e-3)


def test_the_fast_simulation_is_the_simulation_of_events_packet_by_packet() -> None:
    random = np.random.default_rng(7)
    for load in (0.5, 0.9):
        queues = random_network(random, load)
        drawn = draw(queues, PPS, "poisson", 1500, random)
        np.testing.assert_allclose(
            recursion(queues, drawn).delay_us, events(queues, drawn).delay_us, rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("seed", [2, 3, 8])
def test_networks_at_random_agree_with_their_simulation(seed: int) -> None:
    assert of_network(seed, 0.6, 100_000).worst() < TOLERANCE


@pytest.mark.slow
def test_sixty_networks_at_random_agree_with_their_simulations() -> None:
    found = [of_network(seed, 0.9, 500_000) for seed in range(NETWORKS)]
    worst = max(one.worst() for one in found)
    print(f"\n{NETWORKS} networks: worst error of mean delay, queue length and throughput {worst:.2%}")
    for name in ("p50", "p90", "p99"):
        print(f"worst error of {name}: {max(abs(getattr(one, name)) for one in found):.1%}")
    print(f"95 % intervals of the simulated means: ± {max(one.exact_to for one in found):.2%} at most")
    assert worst < TOLERANCE


TESTER = (
    Queue("generator", 0, 0.2, outside=1.0, poll_us=0.05, source=True, then={"function": 1.0}),
    Queue("receiver", 0, 0.25, poll_us=0.05, sink=True),
)
FUNCTION = Queue("function", 1, 1.0, poll_us=0.1, then={"receiver": 1.0})
PIPELINE = (
    replace(FUNCTION, name="function", service_us=0.6, then={"second": 1.0}),
    Queue("second", 1, 0.4, poll_us=0.1, then={"receiver": 1.0}),
)


def polled_errors(
    queues: tuple[Queue, ...], pps: float, arrivals: Arrivals, packets: int
) -> tuple[float, float]:
    """Of the mean and of P99."""
    observed = polled(queues, draw(queues, pps, arrivals, packets, np.random.default_rng(3)))
    counted = observed.delay_us[packets // 10 :]
    counted = counted[~np.isnan(counted)]
    found = delay(queues, pps, arrivals)
    return found.mean_us / counted.mean() - 1, found.p99_us / float(np.quantile(counted, 0.99)) - 1


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
@pytest.mark.parametrize("functions", [(FUNCTION,), PIPELINE], ids=["one area", "pipeline"])
def test_polling_cores_with_bursts_agree_with_their_simulation(
    functions: tuple[Queue, ...], arrivals: Arrivals
) -> None:
    mean, p99 = polled_errors((TESTER[0], *functions, TESTER[1]), 0.7e6, arrivals, 6_000)
    assert abs(mean) < 0.1
    assert abs(p99) < 0.3


ONE_CORE = (TESTER[0], replace(FUNCTION, core=0, service_us=0.5), TESTER[1])
TWO_CORES = (TESTER[0], FUNCTION, TESTER[1])


def bursty(queues: tuple[Queue, ...], burst_us: float) -> tuple[Queue, ...]:
    """The queues, whose polls with packets cost so much beside them."""
    return tuple(replace(queue, burst_us=burst_us) for queue in queues)


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
@pytest.mark.parametrize(
    ("queues", "burst_us", "load", "most"),
    [
        (ONE_CORE, 0.5, 0.3, 0.04),
        (ONE_CORE, 0.5, 0.85, 0.08),
        (ONE_CORE, 2.0, 0.7, 0.06),
        (TWO_CORES, 0.5, 0.5, 0.15),
        (TWO_CORES, 2.0, 0.3, 0.12),
        ((TESTER[0], *PIPELINE, TESTER[1]), 0.5, 0.7, 0.15),
    ],
)
def test_bursts_with_a_fixed_cost_agree_with_their_simulation(
    queues: tuple[Queue, ...], burst_us: float, load: float, most: float, arrivals: Arrivals
) -> None:
    mean, p99 = polled_errors(bursty(queues, burst_us), load * 1e6, arrivals, 6_000)
    assert abs(mean) < most
    assert abs(p99) < 0.6


def test_bursts_grow_until_the_core_carries_the_load() -> None:
    """Alone, a packet would take 3.5 µs, and every 2 µs one comes: n take 2.6 + n, in which n come."""
    found = network(bursty(TWO_CORES, 2.5), 0.5e6, "constant")
    assert found.bursts.lengths["function"] == pytest.approx(2.7, abs=0.15)
    assert 0.9 < found.loads[1] < 1.0
    with pytest.raises(ValueError, match="would be full"):
        delay(bursty(TWO_CORES, 2.5), 0.95e6, "constant")


def test_areas_of_one_core_that_feed_each_other_have_the_same_bursts() -> None:
    queues = (replace(TESTER[0], burst_us=8.0), *bursty(PIPELINE, 0.1), TESTER[1])
    lengths = network(queues, 0.6e6, "constant").bursts.lengths
    assert lengths["second"] == pytest.approx(lengths["function"])
    assert lengths["function"] > 4


def test_a_lone_packet_bears_the_whole_cost_of_its_burst() -> None:
    one = alone(service_scv=0.0, one_by_one=False, poll_us=0.4, burst_us=3.0)
    assert delay([one], 1.0).mean_us == pytest.approx(0.2 + 0.4 + 1.0 + 3.0, rel=1e-3)


@pytest.mark.slow
def test_polling_cores_at_many_loads() -> None:
    """Prints what docs/design/model.md says of them."""
    places = {"one core": ONE_CORE, "two cores": TWO_CORES, "pipeline": (TESTER[0], *PIPELINE, TESTER[1])}
    for (where, queues), burst_us in itertools.product(places.items(), (0.0, 0.5)):
        for arrivals, load in itertools.product(("constant", "poisson"), (0.3, 0.6, 0.85)):
            mean, p99 = polled_errors(bursty(queues, burst_us), load * 1e6, arrivals, 40_000)  # type: ignore[arg-type]
            print(f"\n{where}, bursts {burst_us} µs, {arrivals}, {load:.0%}: {mean:+.1%}, P99 {p99:+.1%}")
            assert abs(mean) < (0.3 if burst_us else 0.2)


@pytest.mark.long
@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
@pytest.mark.parametrize("queues", [ONE_CORE, TWO_CORES, (TESTER[0], *PIPELINE, TESTER[1])])
def test_more_load_is_never_much_less_delay(queues: tuple[Queue, ...], arrivals: Arrivals) -> None:
    means = [delay(bursty(queues, 0.5), load * 1e6, arrivals).mean_us for load in np.linspace(0.02, 0.9, 45)]
    assert all(later > 0.97 * earlier for earlier, later in itertools.pairwise(means))


def test_loss_of_a_short_queue_is_that_of_m_m_1_k() -> None:
    load, places = 0.8, 5
    exact = (1 - load) * load**places / (1 - load ** (places + 1))
    assert loss(load / (1 - load), load, places) == pytest.approx(exact)


def test_a_core_that_cannot_carry_the_load_is_named() -> None:
    with pytest.raises(ValueError, match=r"core 0 would be full 1\.20 times over"):
        delay([alone()], 1.2e6)


def test_packets_that_go_round_are_refused() -> None:
    with pytest.raises(ValueError, match="packets go round"):
        delay([alone(then={"other": 0.5}), Queue("other", 1, 1.0, then={"server": 0.5})], 0.1e6)


def test_a_load_near_the_limit_says_how_much_an_error_grows() -> None:
    assert any("1 % more cost is 19 % more delay" in limit for limit in delay([alone()], 0.95e6).limits)
