# SPDX-License-Identifier: Apache-2.0
"""Merge keys of YAML: what one mapping has in common with another is written once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weir.lab.problem import LabFileError
from weir.lab.source import read_source


def values(tmp_path: Path, text: str) -> Any:
    (tmp_path / "lab.yml").write_text(text)
    source = read_source(tmp_path / "lab.yml")
    return source.values if not source.problems else [problem.message for problem in source.problems]


def test_keys_of_the_other_mapping_are_there_and_own_ones_win(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: {z: 2}}\nb: {<<: *a, x: 3}\n"
    assert values(tmp_path, text) == {"a": {"x": 1, "y": {"z": 2}}, "b": {"x": 3, "y": {"z": 2}}}


def test_of_several_the_first_one_wins_and_what_it_merges_counts_as_its_own(tmp_path: Path) -> None:
    text = "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: &c {x: 7, y: 8, z: 9}\nd: {<<: [*b, *c]}\n"
    assert values(tmp_path, text)["d"] == {"x": 1, "y": 2, "z": 9}


def test_a_place_in_what_was_merged_is_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("a: &a\n  x: 1\nb:\n  <<: *a\n")
    assert read_source(tmp_path / "lab.yml").place(("b", "x")).line == 2


@pytest.mark.parametrize("text", ["a: {<<: 3}\n", "a: &a [1]\nb: {<<: *a}\n", "a: {<<: [1, {x: 2}]}\n"])
def test_what_is_no_mapping_is_not_merged(text: str, tmp_path: Path) -> None:
    assert values(tmp_path, text) == ["merges what is no mapping"]


def test_a_quoted_one_is_a_key_like_any_other(tmp_path: Path) -> None:
    assert values(tmp_path, 'a: {"<<": 3}\n') == {"a": {"<<": 3}}


def test_mappings_that_merge_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("a: &a\n  b: &b\n    <<: *a\n")
    with pytest.raises(LabFileError):
        read_source(tmp_path / "lab.yml")


def test_merges_that_multiply_are_refused_quickly(tmp_path: Path) -> None:
    rows = ["a0: &a0 {" + ", ".join(f"k{i}: 1" for i in range(100)) + "}"]
    rows += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 30)]
    (tmp_path / "lab.yml").write_text("\n".join(rows))
    with pytest.raises(LabFileError):
        read_source(tmp_path / "lab.yml")


def test_mappings_that_merge_each_other_are_refused(tmp_path: Path) -> None:
    assert values(tmp_path, "a: &a {<<: &b {<<: *a}}\n") == ["merges what is no mapping"]
