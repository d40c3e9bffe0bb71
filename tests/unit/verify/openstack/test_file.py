# SPDX-License-Identifier: Apache-2.0
"""What a file may say of an OpenStack cloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.base.error import WeirError
from weir.lab.sut import load_sut

ROOT = Path(__file__).parents[4]


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
