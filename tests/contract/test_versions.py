# SPDX-License-Identifier: Apache-2.0
"""There is one version, and Debian packages and the container file need what the build needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from weir import __version__

ROOT = Path(__file__).resolve().parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_build_of_the_wheel_reads_it_where_python_does() -> None:
    import tomllib

    project = tomllib.loads(text("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    place = project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.*)"$', text(place), re.MULTILINE) == [__version__]


def test_the_native_build_reads_it_there_too() -> None:
    (words,) = re.findall(r"run_command\('sed', '-n', '(.*)', files\('(.*)'\)", text("meson.build"))
    script, place = words[0].replace("\\\\", "\\"), words[1]
    said = subprocess.run(["sed", "-n", script, place], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == __version__


def test_both_changelogs_begin_with_it() -> None:
    ours = re.search(r"^## (\S+?),? (.*)$", text("CHANGELOG.md"), re.MULTILINE)
    debian = re.match(r"weir \((.*)\) (\S+); ", text("debian/changelog"))
    assert ours
    assert debian
    assert ours[1] == debian[1] == __version__
    assert (ours[2] == "not released") == (debian[2] == "UNRELEASED")


def test_the_debian_package_is_built_with_what_the_native_build_needs() -> None:
    listed = {
        line for line in text("packages.apt").splitlines() if line.startswith("lib") and "cmocka" not in line
    }
    declared = set(re.findall(r"^ (lib[\w-]+-dev),$", text("debian/control"), re.MULTILINE))
    assert listed == declared


def test_the_image_is_of_the_distribution_that_the_packages_are_for() -> None:
    (base,) = re.findall(r"^ARG BASE=docker.io/library/(\S+)-slim$", text("Containerfile"), re.MULTILINE)
    stages = re.findall(r"^FROM (\S+)", text("Containerfile"), re.MULTILINE)
    (job,) = YAML(typ="safe").load(text(".github/workflows/test.yml"))["jobs"].values()
    assert base == job["container"]["image"]
    assert set(stages) == {"$BASE"}


@pytest.mark.parametrize(
    "name",
    ["debian/rules", "debian/generate", "debian/tidy-venv", "tools/build-deb", "tools/build-container"],
)
def test_what_builds_them_may_be_run(name: str) -> None:
    assert (ROOT / name).stat().st_mode & 0o111
