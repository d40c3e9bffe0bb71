# SPDX-License-Identifier: Apache-2.0
"""Functions that a command names in place of a lab file."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.named_functions import lab_of_functions
from weir.lab.problem import LabFileError


def test_functions_make_a_lab_of_one_chain_with_their_options() -> None:
    lab = load_lab("nat:external=198.51.100.0/24:sessions=1000,l3fwd")
    assert (lab.name, lab.title) == (
        "nat-l3fwd",
        "nat:external=198.51.100.0/24:sessions=1000,l3fwd, as the command line names it",
    )
    assert [chain.functions for chain in lab.chains()] == [("nat", "l3fwd")]
    assert dict(lab.functions["nat"].nfs()[0].options) == {"external": "198.51.100.0/24", "sessions": 1000}
    assert lab.technology == ("linux-bridge", "direct")
    assert load_lab("l2fwd", quick=True).traffic.frames != load_lab("l2fwd").traffic.frames


def test_the_same_function_twice_is_two_of_them() -> None:
    lab = load_lab("l2fwd:mode=mac-swap, l2fwd")
    assert list(lab.functions)[-2:] == ["l2fwd-1", "l2fwd-2"]
    assert lab.functions["l2fwd-1"].nfs()[0].options["mode"] == "mac-swap"


def test_a_long_chain_has_a_name_that_a_lab_may_have() -> None:
    assert len(load_lab(",".join(["firewall"] * 8)).name) <= 32


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l2fwd").write_text("weir: 1\nname: mine\nchain: PVP\ntechnology: [direct]\n")
    assert load_lab("l2fwd").name == "mine"


@pytest.mark.parametrize("text", ["", "nosuch", "lab.yml", "../nat", "no,l2fwdd"])
def test_what_has_no_function_is_a_path(text: str) -> None:
    assert lab_of_functions(text) is None


def test_a_path_that_is_not_there_says_that_functions_would_do() -> None:
    with pytest.raises(LabFileError, match="does not exist; expected the path of a lab file, or functions"):
        load_lab("nosuch.yml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nat,l3fd", "did you mean l3fwd"),
        ("natt,l3fwd", "did you mean nat"),
        ("nat,", "no function ''"),
        ("nat:sessions=many", "option sessions of nat is 'many'; expected a whole number"),
        ("nat:sessions=--5", "option sessions of nat is '--5'; expected a whole number"),
        ("nat:sessions=²", "option sessions of nat is '²'; expected a whole number"),
        ("acl:rules=\udcff", r"option rules of acl is '\\udcff'; expected the path"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(LabFileError, match=said):
        load_lab(text)
