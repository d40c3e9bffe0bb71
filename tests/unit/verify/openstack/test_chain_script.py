# SPDX-License-Identifier: Apache-2.0
"""The script that makes a server forward, and what it says of how that went. That it does is shown by
tests/smoke/test_attached_tester.py, and by a real cloud."""

from __future__ import annotations

import subprocess

import pytest

from weir.lab.kernel import CommandForm
from weir.verify.drivers.openstack.chain_script import FAILED, FORWARDS, said_of, script

MAC, NEXT = "fa:16:3e:00:00:01", "fa:16:3e:00:00:02"


def told(commands: tuple[CommandForm, ...]) -> str:
    return script("vnf1", MAC, NEXT, commands)


def run(text: str) -> str:
    """What it says where there is nothing of a cloud, with this host's sh."""
    done = subprocess.run(["sh"], input=text, capture_output=True, text=True, check=False)
    return done.stdout


def test_a_server_without_such_a_port_says_so_and_does_nothing_else() -> None:
    assert run(told(("touch /nonexistent/file",))) == f"{FAILED}: there is no interface {MAC}\n"
    assert said_of(run(told(()))) == f"there is no interface {MAC}"


def test_commands_are_run_last_without_a_shells_expansions_and_one_that_fails_is_said() -> None:
    text = told(("echo $HOME; 'two words' > x", ("printf", "%s\\n", "it's"), "false"))
    commands = text.partition("arp -i")[2].partition("\n")[2]
    lines = commands.splitlines()
    assert len(lines) == 4
    fail = text[text.index("fail() {") : text.index("port=")]
    said = run(f"{fail}{commands}").splitlines()
    assert said == ["$HOME; two words > x", "it's", f"{FAILED}: false"]


def test_it_names_the_next_ones_address_for_both_kinds_of_programs() -> None:
    text = told(())
    assert f"lladdr {NEXT} " in text
    assert f'arp -i "$port" -s 198.19.0.1 {NEXT}' in text
    assert text.startswith("#!/bin/sh\n")


@pytest.mark.parametrize(
    ("console", "said"),
    [
        ("kernel up\ntiny: SSH at 9 s\n", None),
        (f"[   12.3] cloud-init[412]: {FORWARDS} as vnf1\r\nlogin: ", ""),
        (f"x\n[   12.3] cloud-init[412]: {FAILED}: no route to 198.19.0.1\r\n", "no route to 198.19.0.1"),
    ],
)
def test_a_console_tells_whether_it_forwards(console: str, said: str | None) -> None:
    assert said_of(console) == said
