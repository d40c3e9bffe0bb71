# SPDX-License-Identifier: Apache-2.0
"""Hugepages: as few as needed, and the old number back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from weir.fabric import hugepages
from weir.fabric.hugepages import MARGIN_MB, PAGE_MB, Hugepages
from weir.fabric.site import Site
from weir.plan import Step

STEP = Step(kind="hugepages", name="hugepages", params={"memory_mb": 100}, text="", undo_text="")
TUNING = STEP.model_copy(update={"params": {"memory_mb": 100, "promised": True}})
NEEDED = (100 + MARGIN_MB) // PAGE_MB


class Notes(Site):
    """A site that keeps what is noted, among `others`, and forbids everything else."""

    def __init__(self, others: Sequence[Notes] = ()) -> None:
        self.facts: dict[str, Any] = {}
        self.started = True
        """Its weir-dp has taken what it needs."""
        self.others = others

    def note(self, facts: dict[str, Any]) -> None:
        self.facts |= facts

    @contextmanager
    def alone(self, *, everywhere: bool = False) -> Iterator[None]:
        assert everywhere
        yield

    def elsewhere(
        self, kind: str, *, everywhere: bool = False, without: str | None = None
    ) -> list[dict[str, Any]]:
        assert everywhere
        assert kind == "hugepages"
        others = [other for other in self.others if other is not self]
        return [other.facts for other in others if without is None or not other.started]


class Pages:
    """The kernel's directory, as plain files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def set(self, total: int, free: int, surplus: int = 0) -> None:
        for name, number in (("nr", total), ("free", free), ("surplus", surplus)):
            (self.directory / f"{name}_hugepages").write_text(f"{number}\n")

    @property
    def total(self) -> int:
        return int((self.directory / "nr_hugepages").read_text())


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    monkeypatch.setattr(hugepages, "DIRECTORY", tmp_path)
    monkeypatch.setattr(hugepages, "NODES", tmp_path / "no-nodes")
    return Pages(tmp_path)


def done(site: Notes, step: Step = STEP) -> dict[str, Any]:
    """All that the journal knows of pools after do()."""
    facts = Hugepages().do(step, site)
    return {key: value for key, value in (site.facts | facts).items() if not key.startswith("needed in ")}


@pytest.mark.parametrize(
    ("default_kb", "free", "least_mb"),
    [
        (2048, {0: 100, 1: 24}, 48),
        (2048, {0: 100, 1: 0}, 0),
        (1_048_576, {0: 100, 1: 100}, 0),
        (2048, {}, 80),
    ],
)
def test_what_is_free_for_who_has_pages_on_each_node_is_what_the_poorest_has_of_the_default_size(
    default_kb: int, free: dict[int, int], least_mb: int, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages.set(total=200, free=40)
    (pages.directory / "resv_hugepages").write_text("0\n")
    (pages.directory / "meminfo").write_text(f"HugePages_Surp:        0\nHugepagesize:    {default_kb} kB\n")
    monkeypatch.setattr(hugepages, "MEMINFO", pages.directory / "meminfo")
    for node, number in (free | {2: 0} if free else {}).items():  # node 2 has no memory
        pool = hugepages.NODES / f"node{node}/hugepages" / hugepages.DIRECTORY.name
        pool.mkdir(parents=True)
        (pool / "free_hugepages").write_text(f"{number}\n")
        (hugepages.NODES / "has_memory").write_text("0-1\n")
    assert hugepages.free_on_each_node_mb() == least_mb


def test_enough_free_pages_are_left_alone(pages: Pages) -> None:
    pages.set(total=NEEDED + 7, free=NEEDED)
    assert done(Notes()) == {}
    Hugepages().undo({}, {}, Notes())
    assert pages.total == NEEDED + 7


def test_the_missing_pages_are_added_and_taken_away_again(pages: Pages) -> None:
    pages.set(total=50, free=NEEDED - 3)
    facts = done(Notes())
    assert pages.total == 53
    Hugepages().undo({}, facts, Notes())
    assert pages.total == 50
    Hugepages().undo({}, facts, Notes())
    assert pages.total == 50


def test_a_number_that_somebody_else_has_set_stays(pages: Pages) -> None:
    pages.set(total=50, free=0)
    facts = done(Notes())
    pages.set(total=512, free=512)
    Hugepages().undo({}, facts, Notes())
    assert pages.total == 512


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_overlapping_deployments_destroyed_in_any_order(order: tuple[int, ...], pages: Pages) -> None:
    standing: list[Notes] = []
    for _ in range(3):
        pages.set(total=pages.total if standing else 50, free=0)
        standing.append(Notes(standing))
        done(standing[-1])
    assert pages.total == 50 + 3 * NEEDED
    for site in [standing[number] for number in order]:
        Hugepages().undo({}, site.facts, site)
        standing.remove(site)
        assert pages.total == 50 + len(standing) * NEEDED


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_one_tuning_promises_is_not_free_for_another(order: tuple[int, int], pages: Pages) -> None:
    pages.set(total=50, free=0)
    first = Notes()
    done(first, TUNING)
    pages.set(total=50 + NEEDED, free=NEEDED)
    second = Notes([first])
    done(second, TUNING)
    assert pages.total == 50 + 2 * NEEDED
    standing = [first, second]
    for site in [standing[number] for number in order]:
        site.others = [other for other in (first, second) if other in standing]
        Hugepages().undo({}, site.facts, site)
        standing.remove(site)
        assert pages.total == 50 + len(standing) * NEEDED


def test_what_another_deployment_has_not_taken_yet_is_not_free(pages: Pages) -> None:
    pages.set(total=NEEDED, free=NEEDED)
    first = Notes()
    first.started = False
    assert done(first) == {}
    second = Notes([first])
    done(second)
    assert pages.total == 2 * NEEDED
    first.started = True
    pages.set(total=2 * NEEDED, free=NEEDED)
    assert done(Notes([first, second])) == {}


def test_what_one_that_goes_will_give_back_is_not_free(pages: Pages) -> None:
    pages.set(total=50, free=0)
    going = Notes()
    done(going)
    going.started = False
    pages.set(total=50 + NEEDED, free=NEEDED)
    coming = Notes([going])
    done(coming)
    assert pages.total == 50 + 2 * NEEDED
    going.others = [coming]
    Hugepages().undo({}, going.facts, going)
    assert pages.total == 50 + NEEDED


def test_a_deployment_takes_what_a_tuning_promises(pages: Pages) -> None:
    pages.set(total=50, free=0)
    tuned = Notes()
    done(tuned, TUNING)
    pages.set(total=50 + NEEDED, free=NEEDED)
    assert done(Notes([tuned])) == {}
    assert pages.total == 50 + NEEDED


def test_a_tuning_notes_the_pages_that_the_kernel_did_not_give(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages.set(total=50, free=0)
    kept = Path.write_text
    monkeypatch.setattr(
        Path,
        "write_text",
        lambda one, text: kept(one, "60") if one.name == "nr_hugepages" else kept(one, text),
    )
    site = Notes()
    facts = done(site, TUNING)
    assert facts["lacking"] == NEEDED - 10
    assert "lacking" not in done(Notes([site]))
    Hugepages().undo({}, facts, site)  # it is no pool


def test_a_killed_one_among_others_gives_back_its_own(pages: Pages) -> None:
    other = Notes()
    pages.set(total=50, free=0)
    done(other)
    killed = Notes([other])
    pages.set(total=pages.total, free=0)
    done(killed)
    del killed.facts[str(pages.directory)]["got"]
    Hugepages().undo({}, killed.facts, killed)
    assert pages.total == 50 + NEEDED


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("killed", range(3))
def test_with_a_killed_one_among_them_too(order: tuple[int, ...], killed: int, pages: Pages) -> None:
    standing: list[Notes] = []
    for number in range(3):
        pages.set(total=pages.total if standing else 50, free=0)
        standing.append(Notes(standing))
        done(standing[-1])
        if number == killed:
            del standing[-1].facts[str(pages.directory)]["got"]
    for site in [standing[number] for number in order]:
        Hugepages().undo({}, site.facts, site)
        standing.remove(site)
        assert pages.total == 50 + len(standing) * NEEDED


def test_pages_that_a_program_still_has_are_no_reason_to_keep_others(pages: Pages) -> None:
    standing: list[Notes] = []
    for _ in range(3):
        pages.set(total=pages.total if standing else 50, free=0)
        standing.append(Notes(standing))
        done(standing[-1])
    last, *first = reversed(standing)
    for site in first:
        Hugepages().undo({}, site.facts, site)
        standing.remove(site)
        in_use = 10 * (3 - len(standing))  # of those taken away: the kernel lists them until their user ends
        pages.set(total=50 + len(standing) * NEEDED + in_use, free=0, surplus=in_use)
    pages.set(total=50 + NEEDED, free=NEEDED)
    Hugepages().undo({}, last.facts, last)
    assert pages.total == 50


def test_killed_before_the_kernel_was_asked(pages: Pages) -> None:
    pages.set(total=50, free=0)
    facts = {str(pages.directory): {"base": 50, "before": 50, "asked": 50 + NEEDED}}
    Hugepages().undo({}, facts, Notes())
    assert pages.total == 50


def test_killed_when_the_kernel_had_given_fewer_than_asked(pages: Pages) -> None:
    pages.set(total=50 + NEEDED // 2, free=0)
    facts = {str(pages.directory): {"base": 50, "before": 50, "asked": 50 + NEEDED}}
    Hugepages().undo({}, facts, Notes())
    assert pages.total == 50


def test_a_machine_without_hugepages(pages: Pages) -> None:
    assert done(Notes()) == {}
    Hugepages().undo({}, {}, Notes())
    assert list(pages.directory.iterdir()) == []


def test_who_deploys_after_somebody_has_set_the_number_gives_that_back(pages: Pages) -> None:
    """The older one, whose pages that number may or may not count, gives none."""
    pages.set(total=50, free=0)
    older = Notes()
    newer, newest = Notes([older]), Notes()
    newest.others = [older, newer]
    older.others = [newer, newest]
    older.facts = done(older)
    pages.set(total=2000, free=0)
    newer.facts = done(newer)
    newest.facts = done(newest)
    assert pages.total == 2000 + 2 * NEEDED
    for one in (older, newest, newer):
        Hugepages().undo({}, one.facts, one)
        for other in (older, newer, newest):
            other.others = [left for left in other.others if left is not one]
    assert pages.total == 2000
