# SPDX-License-Identifier: Apache-2.0
"""What every test starts from."""

import os
import signal
import socket

import pytest
from hypothesis import HealthCheck, settings

# No test is timed: others may have the cores.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# Background jobs of a shell, and of nohup, ignore signals that tests send, and so would all that they start.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """pytest-rerunfailures asks its controller about each test with two small writes and a read: with
    Nagle's algorithm and delayed acknowledgements that is 40 ms a test, two minutes of the suite."""
    asks = getattr(getattr(config, "failures_db", None), "sock", None)
    if asks is not None:
        asks.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.fixture(scope="session", autouse=True)
def _store_of_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A run of which a test names no store is none of the user's."""
    os.environ["WEIR_STORE"] = str(tmp_path_factory.mktemp("store") / "results.db")
