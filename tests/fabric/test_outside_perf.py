# SPDX-License-Identifier: Apache-2.0
"""Where stacks cannot be sampled, what is missing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.outside import perf


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with perf, root, and nothing forbidden."""
    for name in ("perf_event_paranoid", "kptr_restrict"):
        (tmp_path / name).write_text("0\n")
    monkeypatch.setattr(perf, "_PARANOID", tmp_path / "perf_event_paranoid")
    monkeypatch.setattr(perf, "_HIDDEN", tmp_path / "kptr_restrict")
    monkeypatch.setattr("shutil.which", lambda _name: "/usr/bin/perf")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return tmp_path


def test_root_may_sample_whatever_others_may_not(machine: Path) -> None:
    (machine / "perf_event_paranoid").write_text("4\n")
    perf.require_perf()


def test_without_perf_it_says_what_to_install(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del machine
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(FabricError, match=r"perf is not installed.*linux-perf"):
        perf.require_perf()


def test_others_may_not_where_the_kernel_is_paranoid(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(FabricError, match="perf_event_paranoid is 0"):
        perf.require_perf()
    (machine / "perf_event_paranoid").write_text("-1\n")
    perf.require_perf()


def test_a_kernel_that_hides_its_functions_names_is_refused(machine: Path) -> None:
    (machine / "kptr_restrict").write_text("2\n")
    with pytest.raises(FabricError, match="kptr_restrict is 2"):
        perf.require_perf()
