# SPDX-License-Identifier: Apache-2.0
"""The application: which address is which page, and what becomes of errors."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from weir.base.error import WeirError
from weir.web import assets, links, query, view
from weir.web.guard import Access, Guard
from weir.web.live import Live
from weir.web.page import Page
from weir.web.pages import campaign, comparison, front, lab, model, run
from weir.web.reading import Reading

Make = Callable[[Reading, Mapping[str, str], QueryParams], Page]
KEPT_S = 365 * 86_400
"""How long browsers keep what never changes under its address."""
COMPRESSED_BYTES_LEAST = 1024


def application(
    reading: Reading, access: Access, model_path: Path | None = None, live: Live | None = None
) -> Guard:
    """Read-only pages of a store. `model_path`: of the cost model; None: the machine's own. `live`: its
    streams, where somebody else ends them."""
    streams = live or Live(reading)

    def route(path: str, make: Make) -> Route:
        def respond(request: Request) -> Response:
            return _response(request, make(reading, request.path_params, request.query_params))

        return Route(path, respond)

    def data(request: Request) -> Response:
        return answer(request, run.data)

    def drawn(request: Request) -> Response:
        return answer(request, run.drawn)

    def answer(request: Request, of: Callable[[Reading, str], bytes]) -> Response:
        content = of(reading, query.name({}, request.query_params))
        packed = "gzip" in request.headers.get("accept-encoding", "")
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"} if packed else {}
        body = content if packed else gzip.decompress(content)
        return Response(body, media_type="application/json", headers=headers)

    def events(request: Request) -> Response:
        return streams.answer(run.found(reading, query.name({}, request.query_params)))

    app = Starlette(
        routes=[
            route(links.FRONT, front.page),
            route(links.LABS + "{name:path}", lab.page),
            route(links.RUNS + "{name:path}", run.page),
            route(links.CAMPAIGNS + "{name:path}", campaign.page),
            route(links.COMPARE, comparison.page),
            route(links.MODEL, model.page_of(model_path)),
            Route(links.DATA, data),
            Route(links.DRAWN, drawn),
            Route(links.EVENTS, events),
            Route(assets.PLACE + "{name}", _asset),
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=COMPRESSED_BYTES_LEAST)],
        exception_handlers={
            HTTPException: _http_error,
            WeirError: _weir_error,
            Exception: _defect,
        },
    )
    return Guard(app, access, _refused)


def _response(request: Request, page: Page) -> Response:
    return HTMLResponse(view.text(page, request.url.path), page.status)


def _asset(request: Request) -> Response:
    found = assets.files().get(request.path_params["name"])
    if found is None:
        raise HTTPException(query.NOT_FOUND, "There is no such file.")
    kind, content = found
    return Response(
        content, media_type=kind, headers={"Cache-Control": f"public, max-age={KEPT_S}, immutable"}
    )


def _refused(request: Request, status: int, why: str) -> Response:
    title = HTTPStatus(status).phrase
    return _response(request, Page("error", title, {"why": why}, status))


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    # Without a text of ours it is the standard's phrase.
    why = "There is no page at this address." if error.detail == HTTPStatus.NOT_FOUND.phrase else error.detail
    return _refused(request, status, why)


def _weir_error(request: Request, error: Exception) -> Response:
    """The store cannot be read, now: it is damaged, locked, or of a newer Weir."""
    return _refused(request, HTTPStatus.SERVICE_UNAVAILABLE, f"{error}.")


def _defect(request: Request, _error: Exception) -> Response:
    """The traceback goes to the terminal."""
    why = "This is a defect of Weir; the terminal of `weir serve` has what is needed to mend it."
    return _refused(request, HTTPStatus.INTERNAL_SERVER_ERROR, why)
