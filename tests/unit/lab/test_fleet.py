# SPDX-License-Identifier: Apache-2.0
"""Fleet files: what is accepted, and what an error says of which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError
from weir.lab.fleet_load import load_fleet

GOOD = """\
weir: 1
name: two
hosts:
  small: {count: 2, zone: a, numa: [{cores: 8, memory_gb: 32}]}
chains:
  nat: {count: 3, rate_pps: 1.5Mpps, cycles_per_packet: [400, 600], frame_bytes: 64}
  voice: {cores: 1, zones: [a], hosts: [small], per_host: 1}
anti_affinity:
  - {chains: [nat, voice], per_host: 2}
"""


def said(tmp_path: Path, text: str) -> list[str]:
    """The problems of a file with that text, without its path."""
    path = tmp_path / "fleet.yml"
    path.write_text(text)
    with pytest.raises(LabFileError) as caught:
        load_fleet(path)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


def test_a_good_fleet_is_read_from_its_directory(tmp_path: Path) -> None:
    (tmp_path / "fleet.yml").write_text(GOOD)
    fleet = load_fleet(tmp_path)
    assert fleet.chains["nat"].rate_pps == 1.5e6
    assert fleet.hosts["small"].numa[0].count == 1


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("cores: 8", "cors: 8", "4:38: hosts.small.numa[0].cors: unknown key; expected one of cores"),
        ("cores: 8", "cores: -8", "hosts.small.numa[0].cores: is -8; expected a whole number from 0 to 4096"),
        ("hosts: [small]", "hosts: [smal]", "7:41: chains.voice.hosts[0]: unknown class of hosts 'smal'"),
        ("zones: [a]", "zones: [b]", "chains.voice.zones[0]: unknown zone 'b'; expected one of a"),
        ("[nat, voice]", "[nat, voise]", "9:20: anti_affinity[0].chains[1]: unknown class of chains 'voise'"),
        ("[400, 600]", "[]", "chains.nat: has no size, or two; expected `cores`, or `rate_pps` with"),
        ("per_host: 2}", "}", "anti_affinity[0]: limits nothing; expected `per_host`, `per_zone` or both"),
        (
            "count: 3",
            "count: 100001",
            "chains.nat.count: is 100001; expected a whole number from 1 to 100000",
        ),
        ("frame_bytes: 64", "frame_bytes: 64, link_gbps: 1", "chains.nat: has a frame that says nothing"),
        ("name: two", "nam: two", "2:1: nam: unknown key; expected one of"),
    ],
)
def test_an_error_names_line_key_and_what_was_expected(
    tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    problems = said(tmp_path, GOOD.replace(old, new))
    assert any(wanted in problem for problem in problems), problems


def test_all_errors_are_said_at_once_with_the_nearest_name(tmp_path: Path) -> None:
    problems = said(tmp_path, GOOD.replace("[nat, voice]", "[nt, voise]"))
    assert [problem.rpartition(" (")[2] for problem in problems] == [
        "did you mean nat?)",
        "did you mean voice?)",
    ]


def test_a_missing_file_is_called_a_fleet_file(tmp_path: Path) -> None:
    with pytest.raises(LabFileError, match="does not exist; expected the path of a fleet file"):
        load_fleet(tmp_path / "none.yml")
