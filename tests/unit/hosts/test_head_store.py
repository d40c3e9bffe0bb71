# SPDX-License-Identifier: Apache-2.0
"""A campaign on a host, whose store is the head's: what it measures goes there in lines."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from tests.unit.procedures.two_chains import Runs, as_stored, nothing_is_built
from weir.hosts.messages import RunBegun, ToKeep, from_host
from weir.procedures.campaign import Campaign
from weir.procedures.head import Channel, HeadStore, Shown
from weir.procedures.host_runs import HostRun
from weir.procedures.order import Asked
from weir.results.result import Result
from weir.store.store import Store

pytestmark = [pytest.mark.long, pytest.mark.usefixtures(nothing_is_built.__name__)]
SEED, INTERRUPT_AT = 3, 5


class RunsElsewhere(Runs):
    """The same, with the store on another host."""

    def run(self, asked: Asked) -> Result:
        with Store(self.store) as store:
            kept = HostRun(store)
            before = kept.may_go_on(store.load(asked.resumed)) if asked.resumed is not None else None
            source, end = os.pipe()
            said = io.BytesIO()
            channel = Channel(source, said)
            result = Campaign(
                self.lab, quick=False, store=HeadStore(channel, before), progress=Shown(channel),
                measuring=self.measure, asked=asked,
            ).run()  # fmt: skip
            channel.over()
            os.close(end)
            words = [from_host(line.decode()) for line in said.getvalue().splitlines()]
            for word in words:
                if isinstance(word, ToKeep):
                    kept.keep(word)
            assert isinstance(words[0], RunBegun) == (before is None)
        return result


def test_what_a_host_measures_is_in_the_store_of_the_head_as_if_it_were_measured_there(
    tmp_path: Path,
) -> None:
    there, here = RunsElsewhere(tmp_path / "there"), Runs(tmp_path / "here")
    there.run(Asked(SEED))
    here.run(Asked(SEED))
    assert as_stored(there.stored()) == as_stored(here.stored())


def test_a_run_that_was_interrupted_there_goes_on_there_as_it_would_here(tmp_path: Path) -> None:
    there, here = RunsElsewhere(tmp_path / "there"), Runs(tmp_path / "here")
    for one in (there, here):
        one.measure.interrupt_at = INTERRUPT_AT
        one.run(Asked(SEED))
        assert one.stored().interrupted
        one.measure.interrupt_at = None
        one.go_on()
    assert as_stored(there.stored()) == as_stored(here.stored())
    assert not there.stored().interrupted
