# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the suite `sanity`, done by Rally: one process and one task each, so that one that hangs ends
alone."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.extras import install
from weir.fabric import attended
from weir.fabric.program_log import log_end
from weir.lab.sut import OpenStackCloud
from weir.verify.driver import CannotRunError, CloudError, Iteration, ScenarioWanted
from weir.verify.sanity import inside, report
from weir.verify.sanity.table import SCENARIOS, Of, Scenario
from weir.verify.sanity.task import Filling, task

from . import services, sweep
from .connection import AnsweredError, Cloud, Deadline
from .journal import Journal
from .kinds import FORBIDDEN, KINDS

POLL_S = 0.25
"""Between two of Rally's looks at what takes its time."""
_BY_NAME = {one.name: one for one in SCENARIOS}
_PASSWORD_PLUGINS = (None, "password", "v3password")
_EMPTY_IMAGE_BYTES = 1 << 20
_LAST_WORDS = 1


def require() -> None:
    """FabricError where it is not here."""
    missing = [name for name in ("rally", "rally_openstack") if importlib.util.find_spec(name) is None]
    if missing:
        raise FabricError(
            "the suite sanity of an OpenStack cloud needs Rally with rally-openstack",
            f"`make rally` in a checkout installs it, else {install('rally')}",
        )


class Scenarios:
    """Those of one cloud, which is asked once what it has."""

    def __init__(self, cloud: Cloud, options: OpenStackCloud, directory: Path) -> None:
        self._cloud = cloud
        self._options = options
        self._directory = directory
        self._kinds: set[str] | None = None
        self._roles: set[str] = set()
        self._lacks: str | None = None

    def require(self, wanted: ScenarioWanted, deadline: Deadline) -> None:
        """CannotRunError with what the cloud, or this user, has not."""
        if self._kinds is None:
            kinds = services.kinds(self._cloud, deadline)
            self._lacks = self._lacking(deadline)
            self._kinds = kinds  # both have been answered: else the next scenario asks again
        if self._lacks is not None:
            raise CannotRunError(self._lacks)
        missing = [one for one in _BY_NAME[wanted.name].services if one not in self._kinds]
        if missing:
            raise CannotRunError(services.lacking(self._cloud, missing[0]))

    def _lacking(self, deadline: Deadline) -> str | None:
        """In words; None: nothing."""
        config = self._cloud.sdk.config.config
        if config.get("auth_type") not in _PASSWORD_PLUGINS or not config["auth"].get("password"):
            return f"Rally logs in by a password, and the entry of cloud {self._cloud.name} has none"
        try:
            with self._cloud.asking("list projects and roles", deadline):
                next(iter(self._cloud.sdk.identity.projects()), None)
                self._roles = {str(one.name) for one in self._cloud.sdk.identity.roles()}
        except AnsweredError as error:
            if error.status == FORBIDDEN:
                return (
                    "Rally makes projects and users, which needs an administrator's rights: the user of "
                    f"{self._cloud.name} lacks them"
                )
            raise
        return None

    def run(self, wanted: ScenarioWanted, made: Journal, deadline: Deadline) -> list[Iteration]:
        """All of its iterations. CloudError."""
        scenario = _BY_NAME[wanted.name]
        platform = self._platform(deadline)
        with tempfile.TemporaryDirectory(prefix="rally-", dir=self._directory) as name:
            place = Path(name)
            filling = Filling(self._values(scenario, place, deadline), self._roles, place)
            request = {
                "platform": platform,
                "task": task(scenario, wanted, filling),
                "tag": made.tag,
                "poll_s": POLL_S,
                "report": str(place / "report.json"),
            }
            made.announce(sweep.KIND, made.tag)
            return self._done(scenario, wanted, request, place, deadline)

    def _done(
        self,
        scenario: Scenario,
        wanted: ScenarioWanted,
        request: dict[str, Any],
        place: Path,
        deadline: Deadline,
    ) -> list[Iteration]:
        log = place / "log"
        try:
            code = attended.attend(
                "Rally",
                [sys.executable, "-I", str(inside.__file__)],
                secret=json.dumps(request).encode(),
                marker=sweep.marker(request["tag"]),
                environment={"HOME": str(place), "PYTHONWARNINGS": "ignore"},
                log=log,
                directory=place,
                within_s=deadline.left_s(),
            )
        except FabricError as error:
            raise CloudError(f"{error.message}{self._last_words(log)}") from error
        said = place / "report.json"
        if code or not said.is_file():
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise CloudError(f"Rally ended with {how}, and no report{self._last_words(log)}")
        return report.read(said.read_text(), scenario.plugin, wanted, self._cloud.without_secrets)

    def _last_words(self, log: Path) -> str:
        said = self._cloud.without_secrets(log_end(log, _LAST_WORDS)) if log.is_file() else ""
        return f"; its log ends with: {said}" if said else ""

    def _platform(self, deadline: Deadline) -> dict[str, Any]:
        """Who asks, and where, as Rally has it. Names are the token's: clouds.yaml may have identifiers."""
        sdk, config = self._cloud.sdk, self._cloud.sdk.config.config
        with self._cloud.asking("learn who this is", deadline):
            access = sdk.session.auth.get_access(sdk.session)
        found: dict[str, Any] = {
            "auth_url": str(config["auth"]["auth_url"]),
            "admin": {
                "username": access.username,
                "password": str(config["auth"]["password"]),
                "project_name": access.project_name,
                "user_domain_name": access.user_domain_name,
                "project_domain_name": access.project_domain_name,
            },
            "endpoint_type": sdk.config.get_interface("identity") or "public",
        }
        if sdk.config.region_name:
            found["region_name"] = sdk.config.region_name
        if config.get("verify") is False:
            found["https_insecure"] = True
        if config.get("cacert"):
            found["https_cacert"] = str(config["cacert"])
        return found

    def _values(self, scenario: Scenario, place: Path, deadline: Deadline) -> Mapping[Of, Any]:
        """Those that it asks for. CloudError where the cloud has no such thing."""
        asked = _words(scenario.arguments)
        options = self._options
        found: dict[Of, Any] = {}
        for word, what, name in (
            (Of.IMAGE, "image", options.image),
            (Of.FLAVOR, "flavor", options.flavor),
            (Of.EXTERNAL_NETWORK, "network", options.external_network),
        ):
            if word not in asked:
                continue
            if name is None:
                raise CannotRunError(f"it needs openstack.{what} of the file: one that is there")
            with self._cloud.asking(f"look for {what} {name}", deadline):
                one = KINDS[what].of(self._cloud, "find")(name, ignore_missing=True)
            if one is None:
                raise CloudError(f"there is no {what} {name}")
            found[word] = str(one.name) if word is Of.EXTERNAL_NETWORK else str(one.id)
        if Of.IMAGE_FILE in asked:
            found |= {Of.IMAGE_FILE: str(self._image_file(place)), Of.IMAGE_FORMAT: self._image_format()}
        return found

    def _image_file(self, place: Path) -> Path:
        """The file's, or an empty disk."""
        if self._options.image_file is not None:
            return Path(self._options.image_file).absolute()
        path = place / "empty.img"
        with path.open("wb") as out:
            out.truncate(_EMPTY_IMAGE_BYTES)
        return path

    def _image_format(self) -> str:
        return self._options.image_format if self._options.image_file is not None else "raw"


def _words(value: Any) -> set[Of]:
    if isinstance(value, Of):
        return {value}
    if isinstance(value, Mapping):
        return {word for one in value.values() for word in _words(one)}
    return set()
