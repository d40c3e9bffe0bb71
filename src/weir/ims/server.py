# SPDX-License-Identifier: Apache-2.0
"""The program: `python -m weir.ims.server`, until it is ended."""

from __future__ import annotations

import argparse
import asyncio
import json
from contextlib import suppress
from pathlib import Path

from weir.ims.cx import SubscriberServer
from weir.ims.diameter import DiameterError, Message, length_of
from weir.ims.subscribers import read

PORT = 3868
COUNTS = "answered.json"
_COUNTS_EVERY_S = 0.5


async def listening(server: SubscriberServer, address: str, port: int) -> asyncio.Server:
    """Answers from then on. A peer that does not speak Diameter is left."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                begin = await reader.readexactly(4)
                try:
                    request = Message.decoded(begin + await reader.readexactly(length_of(begin) - 4))
                    if request.request:
                        writer.write(server.answer(request).encoded())
                except DiameterError as error:
                    print(f"a peer was left: {error}", flush=True)
                    break
                await writer.drain()
        writer.close()

    return await asyncio.start_server(connected, address, port)


async def keep(server: SubscriberServer, counts: Path) -> None:
    """Keeps a file up to date with the requests answered, by name; until it is cancelled."""
    said = ""
    while True:
        now = json.dumps(dict(server.answered))
        if now != said:
            new = counts.with_suffix(".new")
            new.write_text(now)
            new.replace(counts)
            said = now
        await asyncio.sleep(_COUNTS_EVERY_S)


async def serve(server: SubscriberServer, address: str, port: int, counts: Path) -> None:
    """Both, until it is cancelled."""
    async with await listening(server, address, port):
        print(f"serving at {address}:{port}", flush=True)
        await keep(server, counts)


def main() -> None:
    """Reads its options, and serves."""
    parser = argparse.ArgumentParser(prog="weir.ims.server", description="A subscriber server for Cx.")
    parser.add_argument("--host", required=True, help="its name, as peers know it")
    parser.add_argument("--realm", required=True)
    parser.add_argument("--address", required=True, help="where it listens")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--serving", required=True, help="URI of the S-CSCF")
    parser.add_argument("--subscribers", type=Path, required=True, help="CSV of all of them")
    parser.add_argument("--counts", type=Path, default=Path(COUNTS), help="file for the requests answered")
    given = parser.parse_args()
    known = read(given.subscribers.read_text())
    server = SubscriberServer(given.host, given.realm, given.address, given.serving, subscribers=known)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(server, given.address, given.port, given.counts))


if __name__ == "__main__":
    main()
