# SPDX-License-Identifier: Apache-2.0
"""`weir serve`: pages of the store, for a browser."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from weir.cli.exits import USAGE, CommandError
from weir.cli.model import ModelFile
from weir.cli.stored import StoreLocation

PORT = 8137
TOKEN = "WEIR_TOKEN"


def serve(
    *,
    listen: Annotated[
        str,
        typer.Option(
            "--listen", metavar="ADDRESS", help="Of this host; any but loopback asks readers for a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="0: any that is free.")] = PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Its first line is the token; absent: $WEIR_TOKEN, or a new one at each start.",
        ),
    ] = None,
    model: ModelFile = None,
    store: StoreLocation = None,
) -> None:
    """Serve pages of the store to browsers. Labs with their newest results and regressions, histories, runs,
    comparisons.

    Reads and never writes, measures nothing and needs no root. Ctrl-C ends it.
    """
    from weir.web.server import access_for
    from weir.web.server import serve as run

    access = access_for(listen, _token(token_file))

    def say(url: str) -> None:
        print(f"weir: pages at {url}\nCtrl-C ends it", flush=True)

    with suppress(KeyboardInterrupt):  # this is how it ends
        run(listen, port, store, access, model, say)


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN) or None
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise CommandError(
            f"--token-file {file}: {why}; expected a file with a token in it", USAGE
        ) from error
