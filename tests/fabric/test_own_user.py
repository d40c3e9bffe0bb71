# SPDX-License-Identifier: Apache-2.0
"""Who QEMU and programs of the user's run as."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.base.error import FabricError
from weir.fabric import own_user

ALL = "         0          0 4294967295\n"
OF_A_CONTAINER = "         0     100000      65536\n"


def namespace(at: Path, users: str, groups: str) -> Path:
    (at / "uid_map").write_text(users)
    (at / "gid_map").write_text(groups)
    return at


def test_each_deployment_has_a_user_of_its_own_and_always_the_same(tmp_path: Path) -> None:
    proc = namespace(tmp_path, ALL, ALL)
    first, second = own_user.unused_id("a-00000001", proc), own_user.unused_id("a-00000002", proc)
    assert first != second
    assert first == own_user.unused_id("a-00000001", proc)
    assert {first, second} & {one.pw_uid for one in pwd.getpwall()} == set()


def test_a_container_has_only_the_users_that_it_was_given(tmp_path: Path) -> None:
    proc = namespace(tmp_path, OF_A_CONTAINER, ALL)
    assert 60706 <= own_user.unused_id("a-00000001", proc) < 61184


def test_a_number_that_somebody_has_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = namespace(tmp_path, ALL, ALL)
    taken = own_user.unused_id("a-00000001", proc)

    def known(number: int) -> object:
        if number != taken:
            raise KeyError(number)
        return SimpleNamespace(pw_uid=number)

    monkeypatch.setattr(pwd, "getpwuid", known)
    assert own_user.unused_id("a-00000001", proc) == taken + 1


def test_where_there_is_no_other_user_than_root_that_is_said(tmp_path: Path) -> None:
    proc = namespace(tmp_path, "0 1000 1\n", "0 1000 1\n")
    with pytest.raises(
        FabricError, match=r"no unused number .* give the container users and groups 60706 to"
    ):
        own_user.unused_id("a-00000001", proc)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes somebody else: run as root")
def test_what_it_runs_has_no_rights_and_no_way_back() -> None:
    number = own_user.unused_id("a-00000001")
    argv = [*own_user.run_as(number, [4242]), "cat", "/proc/self/status"]
    status = dict(
        line.split(":", 1)
        for line in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    )
    assert {*status["Uid"].split(), *status["Gid"].split()} == {str(number)}
    assert status["Groups"].split() == ["4242"]
    assert {status[f"Cap{which}"].strip() for which in ("Prm", "Eff", "Inh", "Amb")} == {"0" * 16}
    assert status["NoNewPrivs"].strip() == "1"
