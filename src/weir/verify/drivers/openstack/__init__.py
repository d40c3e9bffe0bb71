# SPDX-License-Identifier: Apache-2.0
"""Any OpenStack cloud of clouds.yaml, through openstacksdk.

`connection` asks it, and makes CloudErrors of what goes wrong; `journal` writes down what is made before it
is made; `kinds` knows how each kind is made and found; `building` puts a case's stack together, `removal`
takes it down; `stack` is what cases ask of it; `services` whether the cloud answers; `rally` has scenarios
done, and `sweep` removes what they left. `chains` has servers in a row that the tester loads; `chain` is one
that stands.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from weir.base.error import WeirError
from weir.fabric.cloud.system import ssh
from weir.lab.performance import Performance
from weir.lab.sut import OpenStackCloud, SutFile
from weir.results.result import Ceiling
from weir.verify.driver import (
    ChainWanted,
    CleanUp,
    CloudError,
    Iteration,
    ScenarioWanted,
    Service,
    StackWanted,
)

from . import journal, rally, services
from .building import Building
from .chain import Attach, OpenStackChain, attached
from .chains import OpenStackChains
from .connection import Cloud, Deadline
from .removal import remove
from .stack import OpenStackStack

_ANSWER_S = 60.0


class OpenStackDriver:
    """`directory`: for keys; it is gone when the run is. `new_id`: of each stack, unlike any other's.
    `attach`: how the tester of chains comes to be."""

    def __init__(
        self,
        sut: SutFile,
        directory: Path,
        new_id: Callable[[], str] = lambda: secrets.token_hex(6),
        attach: Attach = attached,
    ) -> None:
        assert sut.openstack is not None  # SutFile sees to it
        self._options: OpenStackCloud = sut.openstack
        self._directory = directory
        self._new_id = new_id
        self._cloud: Cloud | None = None
        self._left: list[str] = []
        self._scenarios: rally.Scenarios | None = None
        self._chains = OpenStackChains(self._connected, sut, partial(ssh.key, directory), attach)

    @property
    def system(self) -> str:
        """As the file names it."""
        options = self._options
        image = options.image or f"uploaded {Path(options.image_file or '').name}"
        flavor = options.flavor or options.new_flavor
        return f"OpenStack, cloud {options.cloud}: image {image}, flavor {flavor}"

    @property
    def fidelity(self) -> Sequence[str]:
        """What it is of, and what an earlier run left that does not go."""
        return (
            "Times are those that a user of the cloud has: its API, its schedulers and its servers' boot, "
            "asked from this host.",
            "The cloud does not tell whether its servers run on real processors (KVM) or are emulated (QEMU "
            "TCG): who knows it says so in the file's description.",
            *self._left,
        )

    def require(self) -> None:
        """FabricError where the SDK, the cloud's entry or its answer is missing. What killed runs left on
        this cloud is removed."""
        ssh.require_ssh()
        cloud = self._connected()
        with cloud.asking(f"log in to cloud {cloud.name}", Deadline(_ANSWER_S)):
            cloud.sdk.authorize()
        for one in journal.left(self._identity(cloud)):
            if one.version != journal.VERSION or not one.cloud:
                one.let_go()
                why = "is damaged" if not one.cloud else f"is of version {one.version}, of another Weir"
                self._left.append(f"What an earlier run left is not removed: its journal {one.path} {why}.")
                continue
            try:
                remove(cloud, one)
            except CloudError as error:  # and it may stay: the cases make their own
                self._left.append(f"Of an earlier run: {error.message}.")

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:  # noqa: ARG002
        """Those of its catalogue."""
        return services.answering(self._connected(), Deadline(min(within_s, _ANSWER_S)))

    @contextmanager
    def stack(self, wanted: StackWanted, within_s: float) -> Iterator[OpenStackStack]:
        """In the project that the file names, or in a new one."""
        cloud, deadline = self._connected(), Deadline(within_s)
        key = ssh.key(self._directory)
        with self._journalled(cloud, deadline) as made:
            standing = Building(cloud, self._options, made, deadline).build(wanted, key.with_suffix(".pub"))
            yield OpenStackStack(standing, key, self._options.ssh_user, made.tag, deadline)

    def require_scenarios(self) -> None:
        """FabricError where Rally is not here."""
        rally.require()

    @contextmanager
    def scenario(self, wanted: ScenarioWanted, within_s: float) -> Iterator[Sequence[Iteration]]:
        """By Rally, in projects that it makes."""
        cloud, deadline = self._connected(), Deadline(within_s)
        if self._scenarios is None:
            self._scenarios = rally.Scenarios(cloud, self._options, self._directory)
        self._scenarios.require(wanted, deadline)
        with self._journalled(cloud, deadline) as made:
            yield self._scenarios.run(wanted, made, deadline)

    def require_tester(self) -> None:
        """FabricError where this host cannot have one."""
        self._chains.require_tester()

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        """What a chain takes and is not there, as far as the file tells."""
        return self._chains.cannot_build(wanted)

    def chain_needs(self) -> Sequence[str]:
        """What chains take, in sentences."""
        return self._chains.needs()

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        """Measured once."""
        return self._chains.tester_alone(performance)

    @contextmanager
    def chain(self, wanted: ChainWanted, within_s: float) -> Iterator[OpenStackChain]:
        """In the project that the file names."""
        cloud, deadline = self._connected(), Deadline(within_s)
        with (
            self._journalled(cloud, deadline) as made,
            self._chains.chain(wanted, made, deadline) as standing,
        ):
            yield standing

    @contextmanager
    def _journalled(self, cloud: Cloud, deadline: Deadline) -> Iterator[journal.Journal]:
        """For the body; all that is in it is removed afterwards."""
        with cloud.asking("log in", deadline):
            about = self._identity(cloud)
        made = journal.Journal.begin(self._new_id(), about)
        try:
            yield made
        except BaseException as error:
            began_s, told = time.monotonic(), CleanUp.of(error)
            failed, left = error, told.not_removed
            try:
                remove(cloud, made)
            except WeirError as stays:
                left = str(stays) if left is None else f"{left}; {stays}"
                failed = CloudError(f"{error}; and then: {stays}") if isinstance(error, WeirError) else error
            CleanUp(told.seconds + time.monotonic() - began_s, left).told_by(failed)
            raise failed from None if failed is error else error
        else:
            remove(cloud, made)

    def _connected(self) -> Cloud:
        if self._cloud is None:
            self._cloud = Cloud.connected(self._options.cloud, self._options.region)
        return self._cloud

    def _identity(self, cloud: Cloud) -> dict[str, str]:
        """Which cloud, and which of its projects, a journal is of: names in clouds.yaml change."""
        return {
            "auth_url": str(cloud.sdk.config.config["auth"].get("auth_url")),
            "region": str(cloud.sdk.config.region_name),
            "project": str(cloud.sdk.current_project_id),
        }
