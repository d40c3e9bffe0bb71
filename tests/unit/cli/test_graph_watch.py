# SPDX-License-Identifier: Apache-2.0
"""`weir graph --watch`: what it serves, to whom, and that a page of it goes on living in a browser."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.report.browser import load, needs_chromium
from tests.weir_command import WEIR
from weir.cli.graph_watch import hosts_of
from weir.results.host_graph import HostGraph

EVERY_S = "0.2"


@contextmanager
def served(*more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it says."""
    run = subprocess.Popen(
        [*WEIR, "graph", "--watch", "-f", "html", "--interval", EVERY_S, *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert run.stdout is not None
        line = run.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", line)
        assert found is not None, line
        yield run, found[0]
    finally:
        run.kill()
        run.wait()


def status(url: str, path: str | None = None, host: str | None = None, method: str = "GET") -> int:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=10)
    connection.request(method, path or parts.path, headers={"Host": host or parts.netloc})
    return connection.getresponse().status


@pytest.mark.long
def test_the_graph_is_served_with_rates_and_is_another_one_a_little_later() -> None:
    with served() as (run, url):
        with urlopen(f"{url}graph.json", timeout=10) as answer:
            first = HostGraph.model_validate_json(answer.read())
        assert all(one.rates is not None for space in first.namespaces for one in space.interfaces)
        deadline = time.monotonic() + 20
        looked_at = first.looked_at
        while looked_at == first.looked_at:
            assert time.monotonic() < deadline
            time.sleep(0.1)
            with urlopen(f"{url}graph.json", timeout=10) as answer:
                looked_at = json.loads(answer.read())["looked_at"]
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=20) == 0


def test_who_does_not_know_the_address_gets_nothing() -> None:
    with served() as (_, url):
        assert status(url) == 200
        assert status(url, "/") == 404
        assert status(url, "/graph.json") == 404
        assert status(url, "/../../etc/passwd") == 404
        assert status(url, host="evil.example") == 404
        assert status(url, method="POST") == 501


def test_the_port_of_http_is_one_that_a_browser_does_not_say() -> None:
    assert hosts_of(80) == {"127.0.0.1", "127.0.0.1:80"}
    assert hosts_of(8080) == {"127.0.0.1:8080"}


@pytest.mark.long
def test_readers_that_go_in_the_middle_leave_the_terminal_alone() -> None:
    with served() as (run, url):
        parts = urlsplit(url)
        for _ in range(20):
            reader = socket.create_connection((parts.hostname, parts.port))
            reader.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reader.close()
        assert status(url) == 200
        run.kill()
        assert run.communicate(timeout=20)[1] == ""


@pytest.mark.long
def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    for words in (["-f", "svg"], ["-f", "html", "-o", str(tmp_path / "page.html")]):
        done = subprocess.run(
            [*WEIR, "graph", "--watch", *words], capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, "--watch shows text" in done.stderr) == (2, True)
    with served() as (_, url):
        port = str(urlsplit(url).port)
        done = subprocess.run(
            [*WEIR, "graph", "--watch", "-f", "html", "--port", port],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, "choose another --port" in done.stderr) == (2, True)


@pytest.mark.long
def test_text_comes_again_and_again_each_of_another_time() -> None:
    run = subprocess.Popen(
        [*WEIR, "graph", "--watch", "--interval", EVERY_S], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    heads: set[str] = set()
    late = threading.Timer(60, run.kill)
    late.start()
    for line in run.stdout:
        heads |= set(re.findall(rf"^{re.escape(socket.gethostname())}, (\S+): ", line))
        if len(heads) == 2:
            break
    late.cancel()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == 0


@pytest.mark.long
@needs_chromium
def test_a_page_in_a_browser_shows_what_is_there_now(tmp_path: Path) -> None:
    with served() as (_, url):
        shown, said = load(url, tmp_path)
    assert 'data-ready="yes"' in shown
    assert 'data-live="' in shown
    assert "network, live" in shown
    assert said == ""


@pytest.mark.long
def test_only_a_page_that_is_watched_may_ask_for_anything_and_that_where_it_came_from() -> None:
    with served() as (_, url), urlopen(url, timeout=10) as answer:
        assert "connect-src 'self'" in html.unescape(answer.read().decode())
    done = subprocess.run(
        [*WEIR, "graph", "-f", "html"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "connect-src" not in done.stdout
