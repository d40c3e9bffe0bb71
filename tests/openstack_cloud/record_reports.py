# SPDX-License-Identifier: Apache-2.0
"""Records reports of Rally, for tests that read them, while the harness stands:
`python -m tests.openstack_cloud.record_reports NAME ...`. Names: those of REPORTS; none: all.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from weir.lab.sut import SutFile
from weir.verify.driver import Iteration, ScenarioWanted
from weir.verify.drivers.openstack import OpenStackDriver, rally
from weir.verify.sanity import report

from .harness import place

FOLDER = Path(__file__).parents[1] / "unit" / "verify" / "sanity" / "recorded"
NETWORKS = "NeutronNetworks.create_and_delete_networks"


REPORTS = {
    "good": ScenarioWanted(NETWORKS, iterations=5, concurrency=2, time_s=30.0),
    "late": ScenarioWanted(NETWORKS, iterations=2, time_s=0.01),
}


def recorded(name: str, directory: Path) -> str:
    """What Rally writes."""
    options = {
        "cloud": place.CLOUD, "external_network": place.EXTERNAL, "flavor": place.FLAVOR,
        "image": place.IMAGE,
    }  # fmt: skip
    sut = SutFile.model_validate({"weir": 1, "name": "recorded", "driver": "openstack", "openstack": options})
    said: list[str] = []

    def kept(text: str, plugin: str, asked: ScenarioWanted) -> list[Iteration]:
        said.append(text)
        return report.read(text, plugin, asked)

    driver = OpenStackDriver(sut, directory)
    reading = type("Reading", (), {"read": staticmethod(kept)})
    with patch.object(rally, "report", reading), driver.scenario(REPORTS[name], 300.0) as found:
        print(name, len(found), "iterations")
    return json.dumps(json.loads(said[0]), indent=1)


def main(names: list[str]) -> None:
    """Files anew."""
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    FOLDER.mkdir(exist_ok=True)
    for name in names or list(REPORTS):
        with tempfile.TemporaryDirectory() as directory:
            (FOLDER / f"{name}.json").write_text(recorded(name, Path(directory)))


if __name__ == "__main__":
    main(sys.argv[1:])
