# SPDX-License-Identifier: Apache-2.0
"""A cloud of clouds.yaml, and what an answer of it that is none becomes: a CloudError with its cause, without
secrets."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weir.base.error import FabricError, WeirError
from weir.base.extras import install
from weir.fabric import stop_signals
from weir.fabric.alarm import TookTooLongError, ended_after
from weir.verify.driver import CloudError

REQUEST_S = 60.0
"""The longest that one request may wait for an answer."""
_SHORTEST_S = 1.0
"""What one may wait at the end of its time: a healthy cloud is not to look like a dead one."""
_GRACE_S = 2.0
"""Beyond what one request may wait: an answer that comes byte by byte is never silent for so long, and would
not end."""
_LOOK_S = 1.0
_CAUSE_CHARACTERS = 400
_HIDDEN = "(hidden)"
_SECRET_KEYS = ("password", "token", "application_credential_secret", "passcode", "client_secret")
_TOKEN = re.compile(r"gAAAAA[\w=-]{20,}")
"""As Keystone's fernet tokens begin."""


class Deadline:
    """A time until which something must have happened."""

    def __init__(self, within_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.within_s = within_s
        self._clock = clock
        self._end_s = clock() + within_s

    def left_s(self) -> float:
        """0 where it is over."""
        return max(self._end_s - self._clock(), 0.0)

    def until(self, holds: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        """Looks each second. CloudError with `otherwise` when the time is over; Ctrl-C."""
        while self.left_s() > 0:
            if holds():
                return
            stop_signals.check()
            time.sleep(min(_LOOK_S, self.left_s()))
        raise CloudError(f"{otherwise()} after {self.within_s:.0f} s")


class Cloud:
    """One user, in one project of a cloud. `sdk`: what the SDK offers of it."""

    def __init__(self, sdk: Any, name: str, hidden: frozenset[str]) -> None:
        self.sdk = sdk
        self.name = name
        self._hidden = hidden

    @classmethod
    def connected(cls, name: str, region: str | None) -> Cloud:
        """Nothing is asked yet. FabricError where the SDK or the cloud's entry is missing."""
        try:
            import openstack
            from openstack.exceptions import ConfigException

            from .answers import bound
        except ImportError as error:
            raise FabricError(
                "driver openstack needs openstacksdk, which is not here",
                f"install it: {install('openstack')}",
            ) from error
        try:
            sdk = openstack.connection.Connection(cloud=name, region_name=region, app_name="weir")
        except ConfigException as error:
            raise FabricError(
                f"cloud {name}: {str(error).rstrip('.')}",
                "see `openstack.cloud` of the file, and clouds.yaml",
            ) from error
        bound(sdk.session)
        for logger in ("openstack", "keystoneauth", "urllib3"):  # what matters is in the case's cause
            logging.getLogger(logger).addHandler(logging.NullHandler())
        auth = sdk.config.config.get("auth") or {}
        hidden = frozenset(str(auth[key]) for key in _SECRET_KEYS if auth.get(key))
        return cls(sdk, name, hidden)

    def in_project(self, project: Any) -> Cloud:
        """The same user in another project."""
        with self.asking("work in the new project"):
            which = {"id": project.id, "name": project.name, "domain_id": project.domain_id}
            return Cloud(self.sdk.connect_as_project(which), self.name, self._hidden)

    @contextmanager
    def asking(self, what: str, deadline: Deadline | None = None) -> Iterator[None]:
        """For the body, which asks the cloud for something: its errors are CloudErrors that say what for. A
        request waits no longer than the time that is left."""
        left_s = deadline.left_s() if deadline is not None else REQUEST_S
        if left_s <= 0 and deadline is not None:
            raise CloudError(f"{what}: not begun within {deadline.within_s:.0f} s")
        self.sdk.session.timeout = min(max(left_s, _SHORTEST_S), REQUEST_S)
        try:
            with ended_after(max(left_s, _SHORTEST_S) + _GRACE_S):
                yield
        except TookTooLongError as error:
            raise AnsweredError(f"{what}: {error}", None) from None
        except WeirError:
            raise
        except Exception as error:
            if not _is_the_clouds(error):
                raise
            raise AnsweredError(f"{what}: {self._cause(error)}", status_of(error)) from None

    def without_secrets(self, text: str) -> str:
        """This user's, and tokens."""
        text = _TOKEN.sub(_HIDDEN, text)
        for one in self._hidden:
            text = text.replace(one, _HIDDEN)
        return text

    def _cause(self, error: Exception) -> str:
        """From None: the chain would have requests, with what is in them."""
        from openstack.exceptions import HttpException

        text = str(error) or type(error).__name__
        if isinstance(error, HttpException) and error.details:
            text = f"HTTP {error.status_code}: {error.details}"
        elif isinstance(error, ValueError | TypeError | KeyError | AttributeError | RecursionError):
            text = f"an answer that makes no sense ({type(error).__name__}: {text})"
        text = " ".join(self.without_secrets(text).split())
        return text if len(text) <= _CAUSE_CHARACTERS else f"{text[:_CAUSE_CHARACTERS]} …"


class AnsweredError(CloudError):
    """With the status of the answer; None where there was none."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def status_of(error: Exception) -> int | None:
    """The HTTP status in an error of the SDK or of what it stands on."""
    for name in ("status_code", "http_status"):
        found = getattr(error, name, None)
        if isinstance(found, int):
            return found
    return None


def _is_the_clouds(error: Exception) -> bool:
    """Answers that are no JSON, or not the JSON that they should be, fail where the SDK reads them."""
    from keystoneauth1.exceptions import ClientException
    from openstack.exceptions import SDKException
    from requests.exceptions import RequestException

    its = (SDKException, ClientException, RequestException, OSError)
    return isinstance(error, (*its, ValueError, TypeError, KeyError, AttributeError, RecursionError))
