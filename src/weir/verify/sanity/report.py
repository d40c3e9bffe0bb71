# SPDX-License-Identifier: Apache-2.0
"""What Rally's JSON report (revision 1.2) says of one scenario. One that does not fit what was asked for, or
does not agree with itself, is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo

from weir.base.record import fault_text
from weir.verify.driver import CloudError, Done, Iteration, ScenarioWanted

_TOLERANCE_S = 0.05
"""Between an operation's clock and its iteration's: both are the time of day, read one after the other."""
_ENOUGH = 300


def _hidden(text: str, info: ValidationInfo) -> str:
    hide: Callable[[str], str] | None = info.context
    return text if hide is None else hide(text)


_Said = Annotated[str, AfterValidator(_hidden)]
"""What a cloud, or Rally, says. Secrets are hidden in these alone: one may be a word of the report."""


class _Read(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Action(_Read):
    name: str
    started_at: float
    finished_at: float
    children: list[_Action] = []
    failed: bool = False


class _Datum(_Read):
    timestamp: float
    duration: Annotated[float, Field(ge=0)]
    idle_duration: Annotated[float, Field(ge=0)]
    error: list[_Said]
    atomic_actions: list[_Action]


class _SlaResult(_Read):
    criterion: str
    success: bool
    detail: _Said


class _SlaResults(_Read):
    sla: list[_SlaResult]


class _Step(_Read):
    error: list[_Said] | None = None


class _Context(_Read):
    plugin_name: str
    setup: _Step


class _Workload(_Read):
    scenario: dict[str, Any]
    data: list[_Datum]
    failed_iteration_count: int
    total_iteration_count: int
    pass_sla: bool
    sla_results: _SlaResults
    contexts_results: list[_Context]


class _Subtask(_Read):
    status: str
    workloads: list[_Workload]


class _Task(_Read):
    status: str
    subtasks: list[_Subtask]


class _Report(_Read):
    refused: _Said | None = None
    tasks: list[_Task] = []


def read(
    text: str | bytes, plugin: str, wanted: ScenarioWanted, hide: Callable[[str], str] | None = None
) -> list[Iteration]:
    """Its iterations, in the order in which they began. CloudError: Rally refused the task, it was not begun,
    or the report makes no sense. `hide`: what takes secrets out of what is said."""
    try:
        report = _Report.model_validate_json(text, context=hide)
    except ValidationError as error:
        raise CloudError(f"Rally's report cannot be read: {fault_text(error)}") from error
    if report.refused is not None:
        raise CloudError(f"Rally refuses it: {_short(report.refused)}")
    try:
        (task,) = report.tasks
        (subtask,) = task.subtasks
        (workload,) = subtask.workloads
    except ValueError:
        raise _senseless("it is not of one scenario") from None
    if list(workload.scenario) != [plugin]:
        raise _senseless(f"it is of {', '.join(workload.scenario)}")
    _require_begun(workload)
    found = [_iteration(one) for one in sorted(workload.data, key=lambda one: one.timestamp)]
    _require_agreement(found, workload, wanted)
    return found


def _require_begun(workload: _Workload) -> None:
    """What stands before the first iteration did not stand: there is none then."""
    for context in workload.contexts_results:
        if context.setup.error:
            raise CloudError(f"{context.plugin_name} does not stand: {_cause(context.setup.error)}")
    if not workload.data:
        why = next(
            (one.detail for one in workload.sla_results.sla if one.criterion == "something_went_wrong"), ""
        )
        raise CloudError(f"no iteration was begun{f': {_short(why)}' if why else ''}")


def _iteration(datum: _Datum) -> Iteration:
    cause = _cause(datum.error) if datum.error else None
    for action in datum.atomic_actions:
        begins_s, ends_s = datum.timestamp, datum.timestamp + datum.duration + datum.idle_duration
        if (
            not begins_s - _TOLERANCE_S <= action.started_at <= action.finished_at
            or action.finished_at > ends_s + _TOLERANCE_S
        ):
            raise _senseless(f"{action.name} is not within its iteration")
    operations = tuple(
        Done(one.name, one.finished_at - one.started_at, failed=one.failed) for one in datum.atomic_actions
    )
    return Iteration(datum.duration, cause, operations)


def _cause(error: list[str]) -> str:
    """Of an error as Rally tells it: its class, its text, and where it was raised."""
    kind, *rest = error
    return _short(f"{kind}: {rest[0]}" if rest and rest[0] else kind)


def _require_agreement(found: list[Iteration], workload: _Workload, wanted: ScenarioWanted) -> None:
    """Of what Rally counted and judged, and what its data say."""
    failed = sum(one.cause is not None for one in found)
    if workload.total_iteration_count != len(found):
        raise _senseless(f"it has {len(found)} iterations, and counts {workload.total_iteration_count}")
    if workload.failed_iteration_count != failed:
        raise _senseless(
            f"{failed} of its iterations failed, and it counts {workload.failed_iteration_count}"
        )
    if len(found) > wanted.iterations:
        raise _senseless(f"it has {len(found)} iterations of {wanted.iterations}")
    if len(found) < wanted.iterations:
        raise CloudError(f"Rally ran {len(found)} of {wanted.iterations} iterations, and ended")
    late = wanted.time_s is not None and max(one.seconds for one in found) > wanted.time_s
    # In Rally's own words (its `failure_rate`, of task.py): of a share that is just met others may say no.
    kept = failed * 100.0 / len(found) <= 100 * wanted.failure_ratio and not late
    if kept != workload.pass_sla:
        raise _senseless(
            f"Rally says that limits are {'kept' if workload.pass_sla else 'missed'}, its data do not"
        )


def _senseless(why: str) -> CloudError:
    return CloudError(f"Rally's report makes no sense: {why}")


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _ENOUGH else f"{words[:_ENOUGH]} …"
