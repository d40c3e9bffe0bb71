# SPDX-License-Identifier: Apache-2.0
"""What ran against what the RFCs ask for: every difference is found here, none is written by hand."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.rfc2544 import STANDARD_FRAMES, TESTS, Rfc2544Options
from weir.procedures.rfc2544.bench import Bench, Maximum
from weir.procedures.rfc2544.recovery import NOTHING
from weir.results.rfc2544 import Deviation, Rfc2544

TRIAL_S = 60.0
RESIDUAL_S = 2.0
RESTABILISE_S = 5.0
LATENCY_S = 120.0
LATENCY_TAG_S = 60.0
LATENCY_REPEATS = 20
LOSS_STEP = 0.1
BURST_S = 2.0
BURST_REPEATS = 50
BURST_REST_S = 2.0
OVERLOAD_S = 60.0


def deviations(bench: Bench, report: Rfc2544) -> list[Deviation]:
    """In the order of the clauses."""
    found = [*_durations(bench.options), *_scope(bench), *_rates(bench, report), *_resets(report)]
    if "throughput" in report.tests:
        found.append(
            _of(
                "26.1",
                "a frame that is lost ends the matter for its rate",
                "one that was due or under way while another program or the host had a core does not count",
            )
        )
    return sorted(found, key=lambda one: (one.clause.split(",")[0], _number(one.clause)))


def _of(section: str, asked: str, ran: str, rfc: int = 2544) -> Deviation:
    return Deviation(clause=f"RFC {rfc}, {section}", asked=asked, ran=ran)


def _number(clause: str) -> list[int]:
    return [int(part) for part in clause.rpartition(" ")[2].split(".")]


def _durations(options: Rfc2544Options) -> Iterator[Deviation]:
    """What the options shorten."""
    timed = ("23", "wait {asked:g} s for residual frames", RESIDUAL_S, options.residual_s, None)
    rows = (
        timed,
        ("23", "wait {asked:g} s before the next trial", RESTABILISE_S, options.restabilise_s, None),
        ("24", "trials of {asked:g} s at least", TRIAL_S, options.trial_s, None),
        ("26.2", "a stream of {asked:g} s at least", LATENCY_S, options.latency_s, "latency"),
        ("26.2", "the tagged frame after {asked:g} s", LATENCY_TAG_S, options.latency_tag_s, "latency"),
        ("26.4", "bursts of {asked:g} s at least", BURST_S, options.burst_s, "back-to-back"),
        ("26.5", "{asked:g} s of overload at least", OVERLOAD_S, options.overload_s, "recovery"),
    )
    for section, asked, least_s, ran_s, test in rows:
        if ran_s < least_s and (test is None or test in options.tests):
            what = "trial duration" if section != "23" else "wait"
            yield _of(section, asked.format(asked=least_s), f"not conformant: {what} {ran_s:g} s")
    if options.latency_repeats < LATENCY_REPEATS and "latency" in options.tests:
        yield _of("26.2", f"{LATENCY_REPEATS} trials at least", f"{options.latency_repeats} trials")
    if options.loss_step > LOSS_STEP and "frame-loss" in options.tests:
        yield _of("26.3", f"steps of {LOSS_STEP:.0%} at most", f"steps of {options.loss_step:.0%}")
    if "back-to-back" in options.tests:
        if options.burst_repeats < BURST_REPEATS:
            yield _of("26.4", f"{BURST_REPEATS} repeats at least", f"{options.burst_repeats} repeats")
        if options.burst_rest_s < BURST_REST_S:
            asked = f"{BURST_REST_S:g} s for the buffers to drain"
            yield _of("6.2", asked, f"{options.burst_rest_s:g} s", rfc=9004)


def _scope(bench: Bench) -> Iterator[Deviation]:
    """What is left out, whatever the options say."""
    options = bench.options
    missing = [size for size in STANDARD_FRAMES if size not in bench.frames]
    if missing:
        yield _of("9.1", f"frames of {', '.join(STANDARD_FRAMES)} bytes", f"without {', '.join(missing)}")
    if bench.runner.traffic.frame not in STANDARD_FRAMES:
        yield _of("9", "frames of one size in a trial", "a mix of sizes (RFC 6985)")
    yield _of(
        "11",
        "trials with broadcast, management and routing frames, and with filters, besides",
        "none of them",
    )
    yield _of("12", "addresses of 256 networks besides", f"{bench.runner.traffic.flows} flows of one network")
    if bench.directions == 1:
        yield _of("14", "both directions", "one direction")
    yield _of("23", "learning frames before each trial", "before the first trial of each frame size")
    left_out = [test for test in TESTS if test not in options.tests]
    if left_out:
        yield _of("26", "all tests", f"without {', '.join(left_out)}")
    if "latency" in options.tests:
        card = {clock.clock for clock in bench.runner.clocks()} == {"card"}
        end = "its arrival at the network card" if card else "its taking from the receive queue"
        yield _of(
            "26.2",
            "the time from the last bit in to the first bit out, or of RFC 1242's bit forwarding devices",
            f"from the building of a burst, by software, to {end}",
        )


def _resets(report: Rfc2544) -> Iterator[Deviation]:
    """Of the kinds of RFC 6201, those that were not made."""
    if "reset" not in report.tests:
        return
    if all(one.what is None for one in report.resets):
        yield _of(
            "26.6",
            "the time that a reset takes",
            f"not measured: {NOTHING}" if report.resets else "not measured: it needs a throughput",
        )
        return
    made = {one.clause for one in report.resets}
    kinds = (
        ("4.1", "a reset of hardware", "none: there is none of its own"),
        (
            "4.2.1",
            "a reset of the operating system",
            "none: it is the tester's; guests are reset under linux-bridge",
        ),
        ("4.2.2", "a reset of a process", "none"),
        ("4.3", "an interruption of power for 10 s", "none"),
    )
    for section, asked, ran in kinds:
        if f"RFC 6201, {section}" not in made:
            yield _of(section, asked, ran, rfc=6201)
    if any("bridge" in (one.what or "") for one in report.resets):
        yield _of(
            "4.2.2", "a reset of a process", "the kernel's bridge, which has none, made again", rfc=6201
        )


def _rates(bench: Bench, report: Rfc2544) -> Iterator[Deviation]:
    maximum: Maximum = bench.maximum
    share = bench.reachable_pps / maximum.pps
    allowed = bench.reachable_pps == bench.allowed_pps
    if share < 1 and allowed:
        ran = f"up to {share:.1%} of it: max_load_pps of the lab allows no more"
        yield _of("20", "trials up to the maximum rate", ran)
    if maximum.of != "medium":
        of_tester = "the wires have no rate: of what the tester itself can send and receive"
        of_lab = "the wires have no rate, and what the tester can do is not known: of max_load_pps of the lab"
        ran = of_tester if maximum.of == "tester" else of_lab
        yield _of("20", "rates as shares of what the medium carries", ran)
    elif share < 1 and not allowed:
        yield _of(
            "20", "trials up to the rate of the medium", f"up to {share:.1%} of it: the tester does no more"
        )
    if report.frame_loss is not None and not report.frame_loss.complete:
        yield _of(
            "26.3",
            "down until two successive trials lose nothing",
            "no two valid trials without loss followed each other",
        )
    burst = report.back_to_back
    slower = maximum.of != "medium" or share < 1
    if burst is not None and burst.average_frames is not None and slower:
        yield _of(
            "6.4",
            "the Max Theoretical Frame Rate of the medium",
            "the rate at which the bursts were sent",
            rfc=9004,
        )
