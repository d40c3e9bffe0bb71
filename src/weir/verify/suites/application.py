# SPDX-License-Identifier: Apache-2.0
"""Whether a cloud carries an application: SIP functions in its servers, and calls through them (Chung and
Wang, 3.1.3 and 4.4)."""

from __future__ import annotations

from weir.lab.application import Application
from weir.results.calls import CallLoad
from weir.verify.case import Case, NotSoError, Running, Suite, percent
from weir.verify.driver import CannotRunError, Driver, HostsDriver
from weir.verify.sip.capacity import faults, searched
from weir.verify.sip.functions import needs
from weir.verify.sip.level import CALLS
from weir.verify.sip.load import Loads
from weir.verify.sip.standing_functions import standing


def require(driver: Driver, application: Application) -> None:
    """WeirError names the packages that are missing."""
    if isinstance(driver, HostsDriver):
        driver.require_programs(needs(application))


def sip_registration(run: Running) -> None:
    """All subscribers register."""
    with standing(run):
        pass


def sip_calls(run: Running) -> None:
    """Calls at each rate, all of them accounted for."""
    try:
        _offer(run)
    except CannotRunError:
        _judge(run.calls, run.application.success_ratio)  # what was offered before may fail all the same
        raise
    _judge(run.calls, run.application.success_ratio)


def _offer(run: Running) -> None:
    application = run.application
    for vcpus in application.vcpus:
        with standing(run, vcpus) as made:
            loads = Loads(made)
            for rate_cps in application.call_rate_cps:
                with run.doing(f"offer {rate_cps:g} calls/s for {application.duration_s:g} s") as done:
                    found = loads.run("load", rate_cps, application.duration_s)
                    done.found = f"{found.successful} of {found.planned} succeeded"
                run.calls.append(found)


def _judge(calls: list[CallLoad], success_ratio: float) -> None:
    """NotSoError of the first that shows a fault; CannotRunError of one that SIPp was too slow for."""
    for found in calls:
        if found.disagreements:
            raise NotSoError(f"at {_rate(found)} counts do not agree: {found.disagreements[0]}")
    slow = [fault.sentence for found in calls for fault in faults(found)]
    for found in calls:
        if found.success_ratio < success_ratio and not faults(found):
            raise NotSoError(
                f"at {_rate(found)} {found.successful} of {found.planned} calls "
                f"succeeded, expected {percent(success_ratio)}: {_causes(found)}"
            )
    if slow:
        raise CannotRunError(slow[0])


def _rate(found: CallLoad) -> str:
    return f"{found.rate_cps:g} calls/s" + (f" on {found.vcpus} vCPU" if found.vcpus else "")


def _causes(found: CallLoad) -> str:
    ordered = sorted(found.causes.items(), key=lambda one: -one[1])
    return ", ".join(f"{times} × {cause}" for cause, times in ordered[:3])


def sip_capacity(run: Running) -> None:
    """The knee. CannotRunError where it is no fault of the functions' that none was found."""
    share = percent(run.application.success_ratio)
    with (
        standing(run) as made,
        run.doing(f"search the highest rate at which at least {share} of the calls succeed") as done,
    ):
        run.capacity = searched(run, Loads(made))
        if run.capacity.rate_cps is not None:
            done.found = f"{run.capacity.rate}, by {run.capacity.trials} trials"
    found = run.capacity
    if found.rate_cps is not None:
        return
    if found.unmeasured or found.tester_limited:
        raise CannotRunError(f"no rate could be found: {found.why}")
    raise NotSoError(found.why or "no rate was found")


SUITE = Suite(
    "application",
    "Does it carry calls, and how many?",
    (
        Case(
            "sip_registration",
            "SIP functions run in its servers, and all subscribers register",
            sip_registration,
        ),
        Case(CALLS, "calls at each rate are set up and ended, and all are accounted for", sip_calls),
        Case("sip_capacity", "the highest rate at which enough calls succeed", sip_capacity),
    ),
    require=require,
    fidelity=(
        "SIP functions and both ends of the calls are programs in servers of the cloud, which take the same "
        "CPUs where it has only those: rates are of all of them together.",
        "User equipment is SIPp: it registers by AKA, without IPsec, and media goes from end to end.",
    ),
    measures=True,
)
