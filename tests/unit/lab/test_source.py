# SPDX-License-Identifier: Apache-2.0
"""Files that are no lab at all, and texts that only nearly are YAML."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from weir.lab import Lab, LabFileError, Problem, load_lab
from weir.lab.fleet_load import load_fleet
from weir.lab.source import MAX_FILE_BYTES
from weir.lab.sut import load_sut

from .lab_text import GOOD, load, problem, problems


def refusal(path: Path) -> str:
    with pytest.raises(LabFileError) as caught:
        load_lab(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("read", "kind", "keys", "command"),
    [
        (load_lab, "lab", "driver: local", "weir verify"),
        (load_lab, "lab", "hosts: {}", "weir fleet plan"),
        (load_sut, "system under test", "chain: [[f1]]", "weir run"),
        (load_fleet, "fleet", "technology: direct\nhosts: {}", "weir run"),
    ],
)
def test_a_file_of_another_command_is_said_to_be_that(
    read: Callable[[Path], object], kind: str, keys: str, command: str, tmp_path: Path
) -> None:
    path = tmp_path / "other.yml"
    path.write_text(f"weir: 1\nname: x\n{keys}\nsuites: [all]\n")
    with pytest.raises(LabFileError, match=f"is no {kind}; expected a {kind}: .* this is for `{command}`$"):
        read(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "no.yml")
    (tmp_path / "switching.yml").touch()
    meant = f"(did you mean {tmp_path / 'switching.yml'}?)"
    assert refusal(tmp_path / "swiching.yml").endswith(meant)


def test_a_directory_without_a_lab_is_refused(tmp_path: Path) -> None:
    assert "directory without lab.yml" in refusal(tmp_path)


def test_a_directory_for_another_command_names_it(tmp_path: Path) -> None:
    (tmp_path / "sut.yml").write_text("weir: 1")
    assert "its sut.yml is for `weir verify`" in refusal(tmp_path)


def test_a_directory_with_a_lab_is_that_lab(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(GOOD)
    assert load_lab(tmp_path).name == "small"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00\x01\x02", bytes(range(256))])
def test_a_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lab.yml").write_bytes(content)
    assert "expected" in refusal(tmp_path / "lab.yml")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    assert "too large" in refusal(tmp_path / "lab.yml")


def test_a_path_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(LabFileError):
        load_lab("a\0b")


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    assert any(word in problem(text).message for word in ("empty", "not a mapping"))


@pytest.mark.parametrize("text", ["- a\n", "lab\n", "3\n"])
def test_what_is_not_a_mapping_is_refused(text: str) -> None:
    assert "is not a mapping" in problem(text).message


def test_a_syntax_error_is_refused_at_its_line() -> None:
    found = problem(GOOD + "traffic: {frames: [64\nmeasure: 1\n")
    assert "not valid YAML" in found.message
    assert found.line >= 5


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("traffic:\n\tip: 4\n", "spaces, not tabs"),
        ("traffic:\t\n  ip: 4\n", "spaces, not tabs"),
        ("traffic: {frames: [64\nmeasure: 1\n", "the `[` of line 5 closed with a `]`"),
        ("traffic:\n  flows: {count: 1\nmeasure: 1\n", "the `{` of line 6 closed with a `}`"),
        ("title: 'open\ntraffic: 1\n", "the quote of line 5 closed with a quote"),
    ],
)
def test_a_syntax_error_says_what_to_write_instead(text: str, wanted: str) -> None:
    assert problem(GOOD + text).expected == wanted


def test_every_duplicate_key_is_refused_with_the_line_of_the_first() -> None:
    found = problems(GOOD + "name: other\ntraffic: {ip: 4, ip: 6}\n")
    assert [(one.line, one.key) for one in found] == [(5, "name"), (6, "traffic.ip")]
    assert "first in line 2" in found[0].message


def test_a_second_document_is_refused() -> None:
    assert "not valid YAML" in problem(GOOD + "---\n" + GOOD).message


def test_values_nested_in_themselves_are_refused() -> None:
    assert "nested" in problems(GOOD + "title: &a [*a]\n")[-1].message


def test_aliases_that_multiply_are_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "too large" in problems(GOOD + "\n".join(lines) + "\n")[-1].message


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (r'title: "a \ud800"', "title", "is 'a \\ud800', which is no text"),
        (r'traffic: {"ip\udfff": 4}', "traffic.?", "is a key that is not a name"),
        (f"traffic: {{ip: 0x{'f' * 5000}}}", "traffic.ip", "tagged as int"),
        (f"traffic: {{ip: {'9' * 5000}}}", "traffic.ip", "tagged as int"),
    ],
)
def test_what_no_document_could_keep_is_refused_where_it_stands(text: str, key: str, said: str) -> None:
    found = problems(GOOD + text + "\n")[0]
    assert (found.line, found.key) == (5, key)
    assert said in found.message


def test_a_character_that_json_writes_in_two_halves_is_one() -> None:
    assert load(GOOD + r'title: "\ud83d\ude00"' + "\n").title == "\N{GRINNING FACE}"


@pytest.mark.parametrize("style", [">-", ">", ">+", "|", "|-"])
def test_a_text_of_several_lines_is_what_any_reader_of_yaml_makes_of_it(style: str) -> None:
    command = f"{style}\n        one two\n        three\n\n        four\n          five\n"
    text = f"{GOOD}functions:\n  default:\n    kind: program\n    program:\n      command: {command}"
    expected = YAML(typ="safe").load(text)["functions"]["default"]["program"]["command"]
    only_bridges = text.replace("technology: [direct, linux-bridge, ovs-dpdk]", "technology: linux-bridge")
    program = load(only_bridges).functions["default"].program
    assert program is not None
    assert program.command == expected
    assert "\a" not in expected


def test_units_are_understood() -> None:
    lab = load(
        GOOD + "measure: {warm_up_s: 200ms, max_load_pps: 1.5Mpps, stall_threshold_us: 1ms, "
        "trial: {drain_ms: 2s, duration_s: 1, initial_duration_s: 0.25}}\n"
    )
    measure = lab.measure
    assert (measure.warm_up_s, measure.max_load_pps, measure.stall_threshold_us) == (0.2, 1.5e6, 1000.0)
    assert (measure.trial.drain_ms, measure.trial.duration_s) == (2000.0, 1.0)


KEYS = """
weir name chain technology baseline functions tester traffic measure cores technologies quick
frames flows goals trial default nf options direct x
"""
keys = st.sampled_from(KEYS.split())
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["PVP", "direct", "ovs-dpdk", "l2fwd", "sink", "64", "imix:ag", "500ms", ""])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def outcome(text: str, cpus: tuple[int, ...] | None = (0, 1)) -> Lab | tuple[Problem, ...]:
    """The lab, or what is wrong. Any other exception fails the test."""
    try:
        return load(text, cpus=cpus)
    except LabFileError as error:
        return error.problems


def is_good(found: Lab | tuple[Problem, ...]) -> bool:
    """A lab, or problems that each say where and what."""
    return isinstance(found, Lab) or (len(found) > 0 and all(one.message and one.line for one in found))


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(keys, values, max_size=6), st.sampled_from([(0,), (0, 1), (0, 1, 2, 3, 4, 5, 6, 7), None])
)
def test_any_mapping_is_either_a_lab_or_refused(
    made: dict[str, object], cpus: tuple[int, ...] | None
) -> None:
    assert is_good(outcome(yaml_text(made), cpus))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_either_a_lab_or_refused(text: str) -> None:
    assert is_good(outcome(text.encode("utf-8", "replace").decode()))


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_good_lab_with_one_value_replaced_never_crashes(data: st.DataObject) -> None:
    lab = load(GOOD).model_dump(mode="json", by_alias=True)
    around: Any = lab
    while True:
        key = data.draw(st.sampled_from(sorted(around) if isinstance(around, dict) else range(len(around))))
        if not isinstance(around[key], (dict, list)) or not around[key] or data.draw(st.booleans()):
            break
        around = around[key]
    around[key] = data.draw(values)
    assert is_good(outcome(yaml_text(lab)))


def yaml_text(value: object) -> str:
    stream = StringIO()
    YAML(typ="safe", pure=True).dump(value, stream)
    return stream.getvalue()


def test_a_lab_that_comes_through_a_pipe_is_read_as_often_as_a_command_likes() -> None:
    """`weir run <(generate)`: what is in a pipe comes once."""
    readable, writable = os.pipe()
    try:
        os.write(writable, b"weir: 1\nname: piped\nchain: PVP\ntechnology: direct\n")
        os.close(writable)
        first, second = (load_lab(f"/dev/fd/{readable}") for _ in range(2))
    finally:
        os.close(readable)
    assert first.name == "piped"
    assert second == first
