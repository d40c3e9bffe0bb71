# SPDX-License-Identifier: Apache-2.0
"""`weir serve` as a process of its own: what it prints, who may read, how it ends; its pages in a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.report.browser import load, needs_chromium
from tests.served_pages import HURRIED, PATIENCE_S, WEIR, served
from weir.store.store import Store

from .stored import filled
from .test_live import began, searched

pytestmark = pytest.mark.long
NOBODY = 65_534
# May read everything, because the interpreter and this source tree may be in root's home, and write nothing.
ONLY_READS = "-all,+dac_read_search"
ORDINARY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={ONLY_READS}"]
ORDINARY += [f"--ambient-caps={ONLY_READS}", f"--bounding-set={ONLY_READS}"]


def asked(url: str, **how: Any) -> httpx2.Response:
    return httpx2.get(url, timeout=PATIENCE_S, **how)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_on_loopback_until_it_is_ended_and_that_is_no_error(
    place: Path, how: signal.Signals
) -> None:
    with served(place) as (url, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        answer = asked(url)
        assert answer.status_code == 200
        assert "nightly" in answer.text
        assert "server" not in answer.headers
        process.send_signal(how)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, said) == (0, "")


FEW_DESCRIPTORS = ["prlimit", "--nofile=150:150"]
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def connected(url: str, receive_bytes: int | None = None) -> socket.socket:
    made = socket.socket()
    if receive_bytes is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    made.settimeout(2)
    made.connect(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2])))
    return made


def answers_in_time(url: str) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(httpx2.HTTPError):
            return asked(url).status_code == 200
        time.sleep(0.5)
    return False


def test_somebody_who_stops_reading_does_not_keep_it_from_ending(place: Path) -> None:
    with served(place) as (url, process), connected(url, receive_bytes=4096) as reader:
        with suppress(TimeoutError):  # it stops reading, too, when its answers are not read
            for _ in range(2_000):
                reader.sendall(HALF + b"\r\n")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)
        assert process.returncode == 0


def test_connections_that_never_ask_are_closed_and_others_are_served_then(place: Path) -> None:
    with served(place, before=FEW_DESCRIPTORS, how=HURRIED + WEIR) as (url, process):
        idle = [connected(url) for _ in range(300)]
        for one in idle:
            with suppress(OSError):  # refused already
                one.sendall(HALF)
        assert answers_in_time(url)
        for one in idle:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
            one.close()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE_S)[1] == ""


def test_connections_that_read_no_answer_are_closed_and_others_are_served_then(place: Path) -> None:
    with served(place, before=FEW_DESCRIPTORS, how=HURRIED + WEIR) as (url, process):
        (script,) = set(re.findall(r"/assets/uplot[^\"]+js", asked(f"{url}labs/nightly").text))  # 50 KB each
        request = HALF.replace(b"/", script.encode(), 1) + b"\r\n"
        deaf = [connected(url, receive_bytes=2048) for _ in range(80)]
        for one in deaf:
            one.settimeout(0.2)
            with suppress(OSError):  # it stops reading, too; or refused already
                one.sendall(request * 100)
        assert answers_in_time(url)
        for one in deaf:
            one.close()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE_S)[1] == ""


def test_elsewhere_it_prints_an_address_with_a_token_and_asks_for_it(place: Path) -> None:
    with served(place, "--listen", "127.0.0.1", WEIR_TOKEN="of-the-environment-0123456789") as (url, _):
        assert url.endswith("/?token=of-the-environment-0123456789")
        assert asked(url.partition("?")[0]).status_code == 401
        assert asked(url, follow_redirects=True).status_code == 200
    with served(place, "--listen", "0.0.0.0") as (url, _):
        token = url.partition("?token=")[2]
        assert len(token) >= 32
        port = url.rpartition(":")[2].partition("/")[0]
        assert asked(f"http://127.0.0.1:{port}/").status_code == 401
        headers = {"authorization": f"Bearer {token}"}
        assert asked(f"http://127.0.0.1:{port}/", headers=headers).status_code == 200


def failing(place: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", WEIR, "serve", "--store", str(place), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.stdout
    return done.returncode, done.stderr


def test_a_port_that_is_taken_and_a_token_that_is_not_there_are_said(place: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, said = failing(place, "--port", port)
        assert code == 2
        assert said == (
            f"weir: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another --port or"
            " --listen\n"
        )
    code, said = failing(place, "--token-file", str(tmp_path / "none"))
    assert (code, said.partition(": No such file")[0]) == (2, f"weir: --token-file {tmp_path / 'none'}")
    (tmp_path / "token").write_text("short\n")
    code, said = failing(place, "--token-file", str(tmp_path / "token"))
    assert code == 2
    assert "expected 20 printable ASCII characters or more" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_somebody_who_may_only_read_can_serve_and_leaves_nothing_beside_the_store(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o555)
        store = Path(folder) / "results.db"
        store.write_bytes(place.read_bytes())
        with served(store, before=ORDINARY) as (url, process):
            assert f"Uid:\t{NOBODY}\t{NOBODY}" in Path(f"/proc/{process.pid}/status").read_text()
            assert "nightly" in asked(url).text
            assert "Evidence" in asked(f"{url}runs/whole-1").text
            assert list(Path(folder).iterdir()) == [store]
        assert list(Path(folder).iterdir()) == [store]


def test_a_finished_trial_is_on_a_live_page_within_a_second_and_ctrl_c_does_not_wait_for_one(
    tmp_path: Path,
) -> None:
    place = filled(tmp_path / "results.db", [])
    with Store(place) as store:
        _, number = began(store)
        with (
            served(place) as (url, process),
            httpx2.stream("GET", f"{url}events?name=running-1", timeout=PATIENCE_S) as answer,
        ):
            lines = answer.iter_lines()
            assert next(line for line in lines if line) == "event: progress"
            took_s = []
            for load_pps in (1e6, 2e6, 3e6, 4e6, 5e6):
                store.add_trial(number, "64", 64.0, searched(load_pps, 0.0))
                stored_s = time.monotonic()
                shown = next(line for line in lines if f"{load_pps / 1e6:.3f}" in line)
                took_s.append(time.monotonic() - stored_s)
                assert shown.startswith("data: ")
            assert statistics.median(took_s) < 1.0
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=PATIENCE_S) == 0


@pytest.fixture(scope="module")
def url(place: Path) -> Iterator[str]:
    with served(place) as (found, _):
        yield found


def drawn(dom: str) -> list[str]:
    """Titles of the plots that have a canvas of some size."""
    return [
        figure.partition("</figcaption>")[0].rpartition(">")[2]
        for figure in dom.split('<figure class="plot">')[1:]
        if re.search(r'<canvas width="[1-9]\d\d+" height="[1-9]\d\d+"', figure)
    ]


@needs_chromium
@pytest.mark.parametrize("width_px", [1400, 500])
def test_a_labs_histories_are_drawn_without_an_error(url: str, tmp_path: Path, width_px: int) -> None:
    dom, console = load(f"{url}labs/nightly", tmp_path, width_px)
    assert not console
    assert 'data-ready="yes"' in dom
    titles = drawn(dom)
    assert len(titles) == 6
    assert titles[0].startswith("direct PVP")
    assert titles[0].endswith("NDR on alpha, Mpps")


@needs_chromium
def test_a_run_is_drawn_as_in_its_report(url: str, tmp_path: Path) -> None:
    dom, console = load(f"{url}runs/whole-1", tmp_path)
    assert not console
    assert 'data-ready="yes"' in dom
    assert len(drawn(dom)) == 2 + 8 + 8, "throughput by chain, loss and latency by chain and technology"


@needs_chromium
@pytest.mark.parametrize(
    "path", ["", "compare?side=nightly-00&side=nightly-01&side=nightly-39", "model", "nothing"]
)
def test_pages_without_plots_say_nothing_on_the_console(url: str, tmp_path: Path, path: str) -> None:
    dom, console = load(f"{url}{path}", tmp_path)
    # A page that is not there is an error of the network to the browser.
    assert not console or (path == "nothing" and "404" in console and console.count("\n") == 0)
    assert 'data-ready="yes"' in dom


@needs_chromium
def test_a_hostile_lab_does_nothing_in_the_browser(url: str, tmp_path: Path) -> None:
    front = asked(url).text
    hrefs = re.findall(r'<h2 id="lab-\d"><a href="(/labs/evil[^"]+)"', front)
    assert len(hrefs) == 1
    for path in (hrefs[0], "/runs/hostile-07"):
        dom, console = load(url.rstrip("/") + path.replace("&amp;", "&"), tmp_path)
        assert not console
        assert 'data-ready="yes"' in dom
        assert not re.search(r"<img\b", dom)
