# SPDX-License-Identifier: Apache-2.0
"""Who may read: on loopback by its own names, elsewhere with the token; nobody may write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from weir.web.app import application
from weir.web.guard import Access
from weir.web.reading import Reading
from weir.web.server import ServeError, access_for

TOKEN = "a-token-of-many-characters"


def asking(place: Path, access: Access, host: str = "127.0.0.1:8137") -> TestClient:
    app = application(Reading(str(place)), access)
    return TestClient(app, base_url=f"http://{host}", follow_redirects=False)


@pytest.mark.parametrize("host", ["127.0.0.1:8137", "localhost:8137", "[::1]:8137", "localhost"])
def test_on_loopback_whoever_calls_it_by_its_name_reads_without_a_token(place: Path, host: str) -> None:
    assert asking(place, access_for("127.0.0.1", None), host).get("/").status_code == 200


@pytest.mark.parametrize(
    "host", ["rebound.example", "127.0.0.1.nip.io:8137", "10.0.0.1", "localhost.example"]
)
def test_a_name_that_another_site_made_lead_here_is_refused(place: Path, host: str) -> None:
    answer = asking(place, access_for("127.0.0.1", None), host).get("/labs/nightly")
    assert answer.status_code == 421
    assert "nightly" not in answer.text


def test_any_other_address_asks_for_a_token_that_is_new_at_each_start(place: Path) -> None:
    one, other = access_for("10.0.0.7", None), access_for("10.0.0.7", None)
    assert one.token
    assert one.token != other.token
    weir = asking(place, one, "10.0.0.7:8137")
    for path in ("/", "/labs/nightly", "/runs/latest", "/data?name=latest", "/assets/x", "/nothing"):
        answer = weir.get(path)
        assert answer.status_code == 401, path
        assert "nightly" not in answer.text
        assert one.token not in answer.text
    assert weir.get(f"/?token={other.token}").status_code == 401


def test_the_token_comes_once_in_an_address_and_is_then_a_cookie_that_does_not_tell_it(place: Path) -> None:
    weir = asking(place, access_for("10.0.0.7", TOKEN), "10.0.0.7:8137")
    answer = weir.get(f"/labs/nightly?frame=64&token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/labs/nightly?frame=64"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert re.search(r"HttpOnly.*SameSite=strict", cookie)
    assert weir.get("/labs/nightly").status_code == 200
    weir.cookies.set("weir", "0" * 64)
    assert (
        asking(place, access_for("10.0.0.7", TOKEN))
        .get("/", headers={"cookie": "weir=" + "0" * 64})
        .status_code
        == 401
    )


@pytest.mark.parametrize(
    "path", ["//elsewhere.example/", "/\\elsewhere.example", "///elsewhere.example/%2e%2e"]
)
def test_nobody_is_sent_to_another_site_with_a_link_that_has_the_token(place: Path, path: str) -> None:
    weir = asking(place, access_for("10.0.0.7", TOKEN), "10.0.0.7:8137")
    answer = weir.get(f"http://10.0.0.7:8137{path}?token={TOKEN}")
    assert answer.status_code == 303
    assert re.match(r"/[^/\\]", answer.headers["location"])


def test_programs_send_the_token_as_bearer(place: Path) -> None:
    weir = asking(place, access_for("10.0.0.7", TOKEN))
    assert weir.get("/data?name=whole-1", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    for wrong in (f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x", "Bearer \xe9"):
        headers = {"authorization": wrong.encode("latin-1")}
        assert weir.get("/", headers=headers).status_code == 401  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_nothing_can_be_written(place: Path, method: str) -> None:
    before = place.read_bytes()
    answer = asking(place, access_for("127.0.0.1", None)).request(method, "/runs/whole-1")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"
    assert place.read_bytes() == before


@pytest.mark.parametrize("path", ["/", "/labs/nightly", "/runs/whole-1", "/nothing", "/data?name=whole-1"])
def test_every_answer_keeps_browsers_from_loading_anything_else_or_framing_it(place: Path, path: str) -> None:
    headers = asking(place, access_for("127.0.0.1", None)).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_styles_and_scripts_are_kept_by_browsers_since_their_names_change_with_them(place: Path) -> None:
    weir = asking(place, access_for("127.0.0.1", None))
    names = re.findall(r'(?:src|href)="(/assets/[^"]+)"', weir.get("/labs/nightly").text)
    assert len(names) == 5
    for name in names:
        answer = weir.get(name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    ("address", "token", "says"),
    [
        ("lab.example", None, "expected an address, such as 127.0.0.1"),
        ("0.0.0.0", "short", "expected 20 printable ASCII characters or more"),
        ("0.0.0.0", "ü" * 30, "expected 20 printable ASCII characters or more"),
    ],
)
def test_what_it_cannot_listen_on_and_weak_tokens_are_refused(
    address: str, token: str | None, says: str
) -> None:
    with pytest.raises(ServeError, match=says):
        access_for(address, token)


def test_loopback_has_a_token_too_where_one_is_given(place: Path) -> None:
    assert asking(place, access_for("127.0.0.1", TOKEN)).get("/").status_code == 401
    assert access_for("::1", None).token is None
    assert access_for("0.0.0.0", None).token
    assert access_for("::", None).token
