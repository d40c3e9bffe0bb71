# SPDX-License-Identifier: Apache-2.0
"""Set-up says what it installs, touches no running switch, starts no service, is undone. With a fake apt."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
APT_GET = """\
echo "apt-get $*" >>"$CALLS"
case "$*" in
*-s*install*) printf 'Inst libdpdk (22 x)\\nInst openvswitch-common (3 x)\\nInst zlib [1] (2 x)\\n' ;;
*-s*remove*libdpdk) printf 'Remv libdpdk [22]\\nRemv somebodys-tool [1]\\n' ;;
*-s*remove*) printf 'Remv %s [1]\\n' "${@: -1}" ;;
*install*) [ -x "$WEIR_POLICY" ] && sh "$WEIR_POLICY" || echo "policy $?" >>"$CALLS"; touch "$INSTALLED" ;;
esac
"""
FAKES = {
    "apt-get": APT_GET,
    "apt-cache": 'echo "  Candidate: 1"',
    "dpkg-query": '[ -e "$INSTALLED" ] || exit 1\n'
    'case "$*" in *Package*) echo "installed ${@: -1}" ;; *) echo installed ;; esac',
    "systemctl": 'echo "systemctl $*" >>"$CALLS"\n'
    '[ "$1" = list-unit-files ] && [ -e "$INSTALLED" ] && echo "openvswitch.service enabled"; exit 0',
    "sudo": '[ "$1" = -E ] && shift; exec "$@"',
}


class Machine:
    """Debian, as the tools see it, in a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        fakes = root / "bin"
        fakes.mkdir()
        for name, text in FAKES.items():
            (fakes / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
            (fakes / name).chmod(0o755)
        for directory in ("proc/1", "systemd"):
            (root / directory).mkdir(parents=True)
        (root / "proc/1/comm").write_text("init\n")
        (root / "list").write_text("# a list\ndpdk\nopenvswitch-switch-dpdk\n")
        self.env = {
            **os.environ,
            "PATH": f"{fakes}:{os.environ['PATH']}",
            "CALLS": str(root / "calls"),
            "INSTALLED": str(root / "installed"),
            "WEIR_PROC": str(root / "proc"),
            "WEIR_POLICY": str(root / "policy-rc.d"),
            "WEIR_SYSTEMD": str(root / "systemd"),
        }

    def run(self, tool: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        argv = [str(TOOLS / tool), *words]
        made = {**self.env, **env}
        return subprocess.run(argv, cwd=self.root, env=made, capture_output=True, text=True, check=False)

    def calls(self) -> str:
        path = self.root / "calls"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_says_what_will_be_new_and_notes_it_for_the_way_back(machine: Machine) -> None:
    done = machine.run("install-packages", "list")
    assert done.returncode == 0, done.stderr
    assert (
        "installing Debian packages: dpdk openvswitch-switch-dpdk (2 new with what they need, 1"
        in done.stdout
    )
    assert "'make uninstall' removes the new ones" in done.stdout
    assert (machine.root / ".installed-packages").read_text() == "libdpdk\nopenvswitch-common\n"


def test_services_of_packages_are_not_started_and_not_left_enabled(machine: Machine) -> None:
    done = machine.run("install-packages", "list")
    assert "policy 101" in machine.calls()
    assert not (machine.root / "policy-rc.d").exists()
    assert "systemctl disable --now --quiet openvswitch.service" in machine.calls()
    assert "openvswitch.service came with a package; it is disabled" in done.stdout


def test_a_switch_that_runs_is_not_touched_and_the_way_out_is_said(machine: Machine) -> None:
    (machine.root / "proc/77").mkdir()
    (machine.root / "proc/77/comm").write_text("ovs-vswitchd\n")
    done = machine.run("install-packages", "list")
    assert done.returncode == 3
    assert "Open vSwitch runs here (process 77)" in done.stderr
    assert 'make setup WITHOUT="openvswitch-switch-dpdk"' in done.stderr
    assert "apt-get install -y" not in machine.calls()
    assert not (machine.root / ".installed-packages").exists()


def test_a_switch_of_another_root_file_system_keeps_nobody_from_installing(machine: Machine) -> None:
    for process, root in ((77, machine.root), (78, "/")):
        (machine.root / f"proc/{process}").mkdir()
        (machine.root / f"proc/{process}/comm").write_text("ovs-vswitchd\n")
        (machine.root / f"proc/{process}/root").symlink_to(root)
    assert "runs here (process 78)" in machine.run("install-packages", "list").stderr
    (machine.root / "proc/78/comm").write_text("init\n")
    assert machine.run("install-packages", "list").returncode == 0


def test_what_is_left_out_is_not_installed(machine: Machine) -> None:
    done = machine.run("install-packages", "list", WITHOUT="openvswitch-switch-dpdk")
    assert "installing Debian packages: dpdk (" in done.stdout


def test_what_is_there_needs_neither_root_nor_words(machine: Machine) -> None:
    (machine.root / "installed").touch()
    done = machine.run("install-packages", "list")
    assert (done.returncode, done.stdout, done.stderr, machine.calls()) == (0, "", "", "")


def test_packages_are_removed_again_but_for_those_that_others_need_by_now(machine: Machine) -> None:
    machine.run("install-packages", "list")
    done = machine.run("uninstall-packages")
    assert done.returncode == 0, done.stderr
    assert "libdpdk stays: somebodys-tool needs it" in done.stdout
    assert "apt-get remove -y -qq openvswitch-common\n" in machine.calls()
    assert not (machine.root / ".installed-packages").exists()
    assert "no packages to remove" in machine.run("uninstall-packages").stdout
