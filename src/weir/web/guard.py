# SPDX-License-Identifier: Apache-2.0
"""Who may ask: on loopback whoever reaches it by its own name, elsewhere who has the token.

A name that another site made lead here (DNS rebinding) is refused where there is no token. A token comes once
in an address, and is then a cookie that scripts and other sites do not get; programs send it as `Bearer`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_CHARACTERS_LEAST = 20
COOKIE = "weir"
COOKIE_DAYS = 30
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """What is asked of every request."""

    names: frozenset[str] = LOOPBACK_NAMES
    """By which it may call this server, without a token."""
    token: str | None = None


class Guard:
    """Answers what may not pass itself, and adds to every answer what browsers are to keep to."""

    def __init__(self, app: ASGIApp, access: Access, refuse: Callable[[Request, int, str], Response]) -> None:
        self._app, self._access, self._refuse = app, access, refuse
        self._session = None if access.token is None else _digest(access.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Of ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._answer(Request(scope)) or self._app
        await answer(scope, receive, sent)

    def _answer(self, request: Request) -> Response | None:
        """None: it may pass."""
        if request.method not in ("GET", "HEAD"):
            refusal = self._refuse(request, HTTPStatus.METHOD_NOT_ALLOWED, "These pages can only be read.")
            refusal.headers["Allow"] = "GET, HEAD"
            return refusal
        if self._access.token is None:
            if _name(request.headers) in self._access.names:
                return None
            why = "This server answers under the names that `weir serve` printed, and no other."
            return self._refuse(request, HTTPStatus.MISDIRECTED_REQUEST, why)
        offered = request.query_params.get("token")
        if offered is not None and _same(offered, self._access.token):
            return self._entered(request)
        if self._has_session(request) or _same(_bearer(request.headers), self._access.token):
            return None
        why = "This server asks for a token: open the address that `weir serve` printed, which has it."
        refusal = self._refuse(request, HTTPStatus.UNAUTHORIZED, why)
        refusal.headers["WWW-Authenticate"] = "Bearer"
        return refusal

    def _has_session(self, request: HTTPConnection) -> bool:
        return self._session is not None and _same(request.cookies.get(COOKIE, ""), self._session)

    def _entered(self, request: Request) -> Response:
        """The same page, without the token in its address."""
        kept = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
        # Of this server whatever the path says: "//elsewhere" would be another's.
        path = "/" + request.scope.get("raw_path", b"/").decode("ascii", "replace").lstrip("/\\")
        answer = RedirectResponse(path + ("?" + urlencode(kept) if kept else ""), HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            self._session or "",
            max_age=COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


def _digest(token: str) -> str:
    """In the cookie's place: browsers send it to every port of this host, and it does not tell the token."""
    return hashlib.sha256(b"weir serve\0" + token.encode()).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _name(headers: Headers) -> str:
    """Of the header Host, without its port."""
    host = headers.get("host", "").strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
