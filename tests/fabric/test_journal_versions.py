# SPDX-License-Identifier: Apache-2.0
"""Journals that another version of Weir wrote: what this one knows of them it takes down, others it names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.deployment import clean_leftovers, deployments
from weir.fabric.journal import VERSION, Journal
from weir.plan import Step

from .journalled import DEPLOYMENT, topology


def test_a_journal_of_another_version_is_named_and_left(run_root: Path) -> None:
    Journal.begin(topology()).close()
    path = run_root / f"{DEPLOYMENT}.journal"
    heads: tuple[dict[str, object], ...] = ({"begin": {}}, {"journal": VERSION + 1, "new": []}, {})
    for head in heads:
        path.write_text(json.dumps(head) + "\n")
        (found,) = deployments()
        assert "another version of Weir" in str(found.unreadable())
        assert clean_leftovers() == []
        with pytest.raises(FabricError, match="another version of Weir"):
            found.destroy()
        assert path.exists()


def test_a_step_that_only_another_version_knows_is_of_another_version(run_root: Path) -> None:
    journal = Journal.begin(topology())
    journal.write({"do": Step(kind="netns", name="a", params={}, text="", undo_text="").model_dump()})
    journal.close()
    path = run_root / f"{DEPLOYMENT}.journal"
    path.write_text(re.sub(r'"kind": ?"netns"', '"kind": "newer"', path.read_text()))
    (found,) = deployments()
    assert found.state() == "unreadable"
    assert "is of another version of Weir: this one knows no step 'newer'" in str(found.unreadable())
    assert clean_leftovers() == []
    with pytest.raises(FabricError, match="another version of Weir"):
        found.destroy()
    assert path.exists()


def described_otherwise(path: Path) -> None:
    """As a Weir does whose topology has a word more."""
    head, *rest = path.read_text().splitlines()
    document = json.loads(head)
    document["begin"]["word_of_tomorrow"] = 1
    path.write_text("\n".join([json.dumps(document), *rest, ""]))


def test_what_another_version_describes_otherwise_is_named_and_can_be_taken_down(run_root: Path) -> None:
    journal = Journal.begin(topology())
    journal.write({"keep": True})
    journal.close()
    described_otherwise(run_root / f"{DEPLOYMENT}.journal")
    (found,) = deployments()
    assert found.state() == "kept"
    why = str(found.unreadable())
    assert why.startswith(
        f"{DEPLOYMENT} was deployed by another version of Weir, which describes it otherwise"
    )
    assert why.endswith(f"take it down with `weir destroy {DEPLOYMENT}`")
    with pytest.raises(FabricError, match="word_of_tomorrow"):
        _ = found.topology
    found.destroy()
    assert deployments() == []


def test_what_a_killed_other_version_left_is_taken_down(run_root: Path) -> None:
    Journal.begin(topology()).close()
    described_otherwise(run_root / f"{DEPLOYMENT}.journal")
    assert clean_leftovers() == [DEPLOYMENT]
