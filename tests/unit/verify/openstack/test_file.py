# SPDX-License-Identifier: Apache-2.0
"""What a file may say of an OpenStack cloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.base.error import WeirError
from weir.cli.main import app
from weir.lab.sut import SutFile, load_sut

ROOT = Path(__file__).parents[4]
CLOUD = "openstack:\n  cloud: a\n  external_network: b\n  image: c\n  flavor: d"


def written(folder: Path, section: str, driver: str = "openstack") -> Path:
    path = folder / "sut.yml"
    path.write_text(f"weir: 1\nname: a\ndriver: {driver}\n{section}\n")
    return path


def test_the_example_is_read_with_its_flavor() -> None:
    cloud = load_sut(ROOT / "labs/openstack").openstack
    assert cloud is not None
    assert str(cloud.new_flavor) == "of 2 vCPU, 2048 MiB, hw:cpu_policy=dedicated, hw:mem_page_size=large"


@pytest.mark.parametrize(
    ("section", "driver", "why"),
    [
        ("", "openstack", "belong together"),
        ("openstack: {cloud: a, external_network: b, image: c, flavor: d}", "local", "belong together"),
        ("openstack: {cloud: a, external_network: b, flavor: d}", "openstack", "one of image and image_file"),
        (
            "openstack: {cloud: a, external_network: b, image: c, image_file: e, flavor: d}",
            "openstack",
            "one of image and image_file",
        ),
        ("openstack: {cloud: a, external_network: b, image: c}", "openstack", "one of flavor and new_flavor"),
        ("openstack: {cloud: a, external_network: b, image: c, flavour: d}", "openstack", "flavor"),
        (
            "openstack: {cloud: a, external_network: b, image: c, flavor: d, vnic_type: sriov}",
            "openstack",
            "direct",
        ),
    ],
)
def test_what_makes_no_cloud_is_refused_with_what_was_expected(
    section: str, driver: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(WeirError, match=why):
        load_sut(written(tmp_path, section, driver))


@pytest.mark.parametrize(
    ("section", "driver", "suites"),
    [
        ("", "local", ("healthcheck", "sanity", "performance", "application")),
        (CLOUD, "openstack", ("healthcheck", "sanity")),
        (f"{CLOUD}\n  chains: {{interface: ens1f1}}", "openstack", ("healthcheck", "sanity", "performance")),
        (f"{CLOUD}\nsuites: [application, performance]", "openstack", ("application", "performance")),
    ],
)
def test_suites_that_nobody_named_are_those_that_the_driver_can_run(
    section: str, driver: str, suites: tuple[str, ...], tmp_path: Path
) -> None:
    sut = load_sut(written(tmp_path, section, driver))
    assert sut.suites == suites
    assert SutFile.model_validate(sut.model_dump(mode="json")) == sut


def test_a_dry_run_of_a_cloud_lists_no_suite_that_would_be_skipped_as_a_whole(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["verify", str(written(tmp_path, CLOUD)), "--dry-run"]).output
    assert "healthcheck: " in said
    assert "sanity: " in said
    assert "performance: " not in said
    assert "application: " not in said
