# SPDX-License-Identifier: Apache-2.0
"""Files that a lab names lie beside it, or are said to be missing before anything is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError, load_lab

CAPTURE = """weir: 1
name: sent
chain: PVP
technology: direct
tester: {direction: left-to-right}
traffic: {capture: {left: up.pcap}}
variants: {a: {}, b: {functions: {f1: {nf: acl, options: {rules: own.txt}}}}}
"""
LAB = """weir: 1
name: ruled
chain: [[alone], [edge]]
technology: direct
functions:
  alone: {nf: acl, options: {rules: rules/alone.txt}}
  edge:
    chain:
      - {nf: l3fwd}
      - {nf: firewall, options: {rules: edge.txt, default: deny}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lab.yml").write_text(LAB)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "alone.txt").write_text("permit any any any\n")
    return tmp_path


def test_a_missing_file_is_named_with_its_place(folder: Path) -> None:
    with pytest.raises(LabFileError) as refused:
        load_lab(folder)
    (problem,) = refused.value.problems
    assert (problem.line, problem.key) == (10, "functions.edge.chain[1].options.rules")
    assert str(folder / "edge.txt") in problem.message


def test_a_missing_file_of_all_variants_is_named_once_and_that_of_one_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(CAPTURE)
    with pytest.raises(LabFileError) as refused:
        load_lab(tmp_path)
    assert [(one.line, one.key) for one in refused.value.problems] == [
        (6, "traffic.capture.left"),
        (7, "variants.b.functions.f1.options.rules"),
    ]


def test_relative_files_are_beside_the_lab_wherever_it_is_read_from(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "edge.txt").write_text("permit any any any\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    functions = load_lab(folder / "lab.yml").functions
    assert functions["alone"].options["rules"] == str(folder / "rules" / "alone.txt")
    options = functions["edge"].chain[1].options
    assert options == {"rules": str(folder / "edge.txt"), "default": "deny"}
