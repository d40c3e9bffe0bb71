# SPDX-License-Identifier: Apache-2.0
"""Labs with tenants: what is read, and what is refused, with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError, load_lab
from weir.lab.of_tenants import has_tenants
from weir.lab.tenants_load import load_tenants

GOOD = """weir: 1
name: cloud
cloud: {security: ovs-conntrack}
tenants:
  - {name: blue, instances: 2, floating: 1, ingress: [{protocol: tcp, ports: [80, 90]}]}
  - {name: red, count: 2}
"""


def written(folder: Path, text: str) -> Path:
    (folder / "lab.yml").write_text(text)
    return folder


def said(folder: Path, text: str) -> str:
    with pytest.raises(LabFileError) as refused:
        load_tenants(written(folder, text))
    return str(refused.value)


def test_tenants_that_are_alike_have_names_of_their_own(tmp_path: Path) -> None:
    found = load_tenants(written(tmp_path, GOOD))
    assert [name for name, _ in found.all_tenants()] == ["blue", "red-1", "red-2"]
    assert found.cloud.isolation == "vxlan"


def test_a_file_says_by_its_keys_whether_it_has_tenants(tmp_path: Path) -> None:
    assert has_tenants(written(tmp_path, GOOD))
    assert not has_tenants(written(tmp_path, "weir: 1\nname: a\nchain: PVP\ntechnology: direct\n"))
    assert not has_tenants(written(tmp_path, "weir: ["))
    assert not has_tenants(tmp_path / "nowhere.yml")


def test_what_measures_chains_says_who_builds_tenants(tmp_path: Path) -> None:
    with pytest.raises(LabFileError, match=r"lab\.yml:4:1: tenants: .*`weir deploy` builds tenants"):
        load_lab(written(tmp_path, GOOD))


@pytest.mark.parametrize("key", ["tenant", "Tenants", "tennants", "tenents"])
def test_who_mistypes_tenants_is_told_by_every_reader(key: str, tmp_path: Path) -> None:
    text = GOOD.replace("tenants:", f"{key}:")
    assert has_tenants(written(tmp_path, text))
    told = said(tmp_path, text)
    assert f"lab.yml:4:1: {key}: unknown key; expected one of " in told
    assert told.endswith("(did you mean tenants?)")
    assert "is missing" not in told
    with pytest.raises(LabFileError, match=rf"lab.yml:4:1: {key}: .*did you mean tenants\?"):
        load_lab(written(tmp_path, text))


def test_a_lab_that_has_a_cloud_and_no_tenants_is_asked_for_them(tmp_path: Path) -> None:
    text = "weir: 1\nname: a\ncloud: {security: none}\n"
    assert has_tenants(written(tmp_path, text))
    assert "tenants: is missing" in said(tmp_path, text)


@pytest.mark.parametrize("key", ["tenant", "cloud", "chains", "testers"])
def test_a_chains_lab_stays_one_whatever_else_is_in_it(key: str, tmp_path: Path) -> None:
    text = f"weir: 1\nname: a\nchain: PVP\ntechnology: direct\n{key}: []\n"
    assert not has_tenants(written(tmp_path, text))
    with pytest.raises(LabFileError, match=rf"lab.yml:5:1: {key}: unknown key; expected one of"):
        load_lab(written(tmp_path, text))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("ovs-conntrack", "ovs"), "lab.yml:3:9: cloud.security: unknown value 'ovs'; expected one of"),
        (("instances: 2", "instances: -1"), "tenants[0].instances: is -1; expected a whole number from 0"),
        (("floating: 1", "floating: 3"), "floating addresses for 3 of 2 instances"),
        (("protocol: tcp", "protocol: icmp"), "has ports, and icmp has none"),
        (("[80, 90]", "[90, 80]"), "has a first port above its last"),
        (("[80, 90]", "80"), "[0].ports: is 80; expected a list of 2 items (the first and the last"),
        (("count: 2", "subnet: 10.0.0.1/24"), "expected an IPv4 network such as 10.0.0.0/24"),
        (("count: 2", "subnet: 169.254.0.0/24"), "cannot be the addresses of instances"),
        (("count: 2", "subnet: 10.0.0.0/30"), "which has room for 0"),
        (("count: 2", "subnet: 198.18.0.0/24"), "tenants[1].subnet: overlaps the external"),
        (("count: 2", "functions: [{name: router}]"), "tenants[1].functions[0].name: is router, as every"),
        (("count: 2", "functions: [{name: a}, {name: a}]"), "functions[1].name: is a, as another function"),
        (("{security: ovs-conntrack}", "{functions: [{name: a}, {name: a}]}"), "as another function that"),
        (("{security: ovs-conntrack}", "{functions: [{name: dhcp}]}"), "cloud.functions[0].name: is dhcp"),
        (("count: 2", "functions: [{name: 1}]"), "tenants[1].functions[0].name: is 1"),
        (("count: 2", "functions: [{name: a, kind: dpi}]"), "tenants[1].functions[0].kind: "),
        (("count: 2", "functions: [{name: a, commands: ['nft \"flush']}]"), "commands[0]: cannot be split"),
        (("count: 2", "functions: [{name: a, commands: [ls, '']}]"), "commands[1]: names no program"),
        (("{security: ovs-conntrack}", "{functions: [{name: a, commands: ['\"']}]}"), "cannot be split into"),
        (("count: 2", "functions: [{name: a, commands: ['nft -f \"a b\"', [sh, -c, '\"']]}]"), None),
        (("count: 2", "functions: [{name: a}], subnet: 10.0.0.0/29"), None),
        (("count: 2", "instances: 4, functions: [{name: a}], subnet: 10.0.0.0/29"), "and functions in"),
        (("red", "blue"), None),
        (("name: red", "name: blue-1"), None),
        (("red", "outside"), "tenants[1].name: is what the host outside is called"),
        (("count: 2", "counts: 2"), "tenants[1].counts: unknown key"),
        (("{security: ovs-conntrack}", "{external: 198.18.0.0/30}"), "lab.yml:3:9: cloud.external: has room"),
        (("{security: ovs-conntrack}", "{external: 172.16.0.0/16}"), "the nodes' own network"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_stands(
    tmp_path: Path, changed: tuple[str, str], expected: str | None
) -> None:
    text = GOOD.replace(*changed)
    if expected is None:
        load_tenants(written(tmp_path, text))
    else:
        assert expected in said(tmp_path, text)


SHARING = GOOD.replace("{security: ovs-conntrack}", "{functions: [{name: dpi}, {name: firewall}]}")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("name: red", "name: shared"), "lab.yml:6:6: tenants[1].name: is what the functions that"),
        (("count: 2}", "count: 2, shared: false}"), None),
        (("count: 2}", "count: 2, shared: 1}"), "tenants[1].shared: is 1"),
        (("{functions", "{external: 198.18.0.0/29, functions"), "has room for 5 routers, floating addresses"),
    ],
)  # fmt: skip
def test_what_tenants_share_is_checked(
    tmp_path: Path, changed: tuple[str, str], expected: str | None
) -> None:
    text = SHARING.replace(*changed)
    if expected is None:
        load_tenants(written(tmp_path, text))
    else:
        assert expected in said(tmp_path, text)


def test_functions_that_nobody_shares_are_refused(tmp_path: Path) -> None:
    text = SHARING.replace("count: 2}", "count: 2, shared: false}").replace("floating: 1", "shared: false")
    assert "lab.yml:3:9: cloud.functions: are shared by no tenant" in said(tmp_path, text)


def test_two_tenants_of_one_name_are_refused(tmp_path: Path) -> None:
    text = GOOD.replace("name: red, count: 2", "name: blue")
    assert "lab.yml:4:1: tenants: are two called blue" in said(tmp_path, text)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("count: 2", "system: {ssh_keys: id.pub}"), "lab.yml:6:26: tenants[1].system.ssh_keys: there is"),
        (("count: 2", "system: {user_data: s.sh}"), "tenants[1].system.user_data: there is no file"),
        (("count: 2", "functions: [{name: a, directory: d}]"), "tenants[1].functions[0].directory: there"),
        (("{security: ovs-conntrack}", "{functions: [{name: a, directory: d}]}"), "cloud.functions[0].dir"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_before_anything_is_built(
    tmp_path: Path, changed: tuple[str, str], expected: str
) -> None:
    text = GOOD.replace(*changed)
    assert expected in said(tmp_path, text)
    for name in ("id.pub", "s.sh"):
        (tmp_path / name).write_text("")
    (tmp_path / "d").mkdir()
    load_tenants(written(tmp_path, text))
