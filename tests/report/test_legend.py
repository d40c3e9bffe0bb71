# SPDX-License-Identifier: Apache-2.0
"""What a report says of its own columns."""

from __future__ import annotations

from weir.report import legend, summary
from weir.results.result import Result

from .synthetic import result


def one_way(made: Result, streams: int) -> Result:
    for trial in summary.trials(made):
        kept = [stream for stream in trial.streams if stream.direction == "right-to-left"][:1]
        trial.streams = [
            one.model_copy(update={"stream": number}) for one in kept for number in range(streams)
        ]
    return made


def test_rates_of_both_directions_of_one_and_of_tenants_that_all_send_one_way_are_told_apart() -> None:
    assert legend.directions(result()) == "totals over both directions"
    assert legend.directions(one_way(result(), 1)) == "of one direction"
    assert legend.directions(one_way(result(), 4)) == "totals over all that send, in one direction"
