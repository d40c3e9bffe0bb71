# SPDX-License-Identifier: Apache-2.0
"""Client of weir-dp's control protocol: one JSON object a line over a unix stream socket.

A request is {"id", "cmd", "args"}; its answer {"id", "ok", "result" | "error"}. Answers to requests that were
given up (time-out, Ctrl-C) are skipped when they come, so the connection stays usable.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pydantic import ValidationError

from weir.base.record import first_fault
from weir.base.si import MS_PER_S
from weir.protocol.configuration import Announce, Configure, NfCommand, NfListen, NfReportAsked, Request
from weir.protocol.errors import DataPlaneError, DataPlaneGoneError, DataPlaneTimeoutError, refusing
from weir.protocol.ledger import Configured, ConfiguredPort, Hello, Ledger, NfReport, Reply
from weir.protocol.traffic import (
    DelaysAsked,
    DelayWanted,
    RateChange,
    TrafficConfigure,
    TrafficStart,
    TrafficWait,
)
from weir.protocol.traffic_results import (
    CaptureFacts,
    DelayHistogram,
    RunState,
    Started,
    TrafficConfigured,
    TrafficInterval,
    TrafficResult,
)

PROTOCOL_VERSION = 4
"""One more whenever an older weir-dp would no longer do: native/control/describe.h has the same."""
RECEIVE_BYTES = 65_536
CONNECT_RETRY_S = 0.02
CONFIGURE_TIMEOUT_S = 120.0  # probing and starting many ports takes seconds, and so does compiling rules
Answer = TypeVar("Answer", bound=Reply)


class DataPlaneClient:
    """A connection to one weir-dp. Not for use by several threads at once.

    Every method raises DataPlaneError when weir-dp refuses, DataPlaneGoneError when it has ended and
    DataPlaneTimeoutError when it does not answer within `timeout_s`.
    """

    def __init__(self, path: Path | str, *, connect_s: float = 5.0, timeout_s: float = 10.0) -> None:
        self._path = Path(path)
        self._timeout_s = timeout_s
        self._received = bytearray()
        self._last_id = 0
        self._broken = False
        self.is_empty = True  # the chain, as whoever measured through it found last
        self._captures: dict[tuple[str, str], CaptureFacts] = {}  # by path and filter, as first read
        self._socket = self._connected(connect_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; weir-dp goes on."""
        self._socket.close()

    @property
    def log_hint(self) -> str:
        """Where to look when it does not answer."""
        return f"its log: {self._path.with_suffix('.log')}"

    def hello(self) -> Hello:
        """Who answers. DataPlaneError if it speaks another version of the protocol."""
        hello = self.ask("hello", Hello)
        if hello.protocol != PROTOCOL_VERSION:
            raise DataPlaneError(
                "protocol",
                f"weir-dp {hello.version} speaks protocol {hello.protocol}",
                where=str(self._path),
                expected=str(PROTOCOL_VERSION),
                fix="take weir-dp and weir of the same version: of one source, or one release",
            )
        return hello

    def configure(self, config: Configure) -> tuple[ConfiguredPort, ...]:
        """Makes ports, rings and areas: all of them or, on an error, none."""
        timeout_s = max(self._timeout_s, CONFIGURE_TIMEOUT_S)
        return self.ask("configure", Configured, config, timeout_s=timeout_s).ports

    def start(self) -> None:
        """Starts the polling loops."""
        self.call("start")

    def stop(self) -> None:
        """Stops the polling loops."""
        self.call("stop")

    def announce(self, count: int) -> None:
        """Each port sends `count` frames from its own address, so that switches learn it."""
        self.call("announce", Announce(count=count).arguments())

    def configure_traffic(self, config: TrafficConfigure) -> TrafficConfigured:
        """Sets the streams of the runs that follow; what their captures are. It answers when it has read
        these, once for each stream."""
        files = dict.fromkeys(one.capture.path for one in config.streams if one.capture is not None)
        timeout_s = max(self._timeout_s, CONFIGURE_TIMEOUT_S) if files else self._timeout_s
        try:
            configured = self.ask("traffic.configure", TrafficConfigured, config, timeout_s=timeout_s)
        except DataPlaneTimeoutError:
            if not files:
                raise
            said = f"weir-dp has not read {', '.join(files)} in {timeout_s:g} s"
            fix = f"name a smaller capture, or a faster disk; {self.log_hint}"
            raise DataPlaneTimeoutError("timeout", said, where=str(self._path), fix=fix) from None
        self._require_same_captures(config, configured)
        return configured

    def _require_same_captures(self, config: TrafficConfigure, configured: TrafficConfigured) -> None:
        """What is measured with a file rests on what it was when it was read first."""
        for stream in config.streams:
            facts = configured.captures.get(str(stream.id))
            if stream.capture is None or facts is None:
                continue
            was = self._captures.setdefault((stream.capture.path, stream.capture.filter), facts)
            if was != facts:
                raise DataPlaneError(
                    "changed",
                    f"{stream.capture.path} has changed while the chain stood: {facts.frames:,} frames are"
                    f" sent of it, {was.frames:,} before",
                    fix="send a copy that nobody writes to",
                )

    @refusing()
    def start_traffic(
        self,
        rates_pps: Mapping[int, float],
        duration_ns: int,
        drain_ns: int,
        delay: DelayWanted | None = None,
        *,
        packets: int | None = None,
        then: Sequence[RateChange] = (),
        slice_ns: int | None = None,
        skip: bool = False,
        switch_cpus: Collection[int] = (),
        learn: bool = False,
    ) -> int:
        """Starts a run and returns its number. A rate of 0 is as fast as the core can."""
        run = TrafficStart(
            duration_ns=duration_ns,
            rates_pps={str(stream): rate for stream, rate in rates_pps.items()},
            drain_ns=drain_ns,
            packets=packets,
            then=tuple(then),
            slice_ns=slice_ns,
            skip=skip,
            switch_cpus=tuple(sorted(switch_cpus)),
            delay=delay,
            learn=learn,
        )
        return self.ask("traffic.start", Started, run).run

    def traffic_result(self, wait_ms: int) -> TrafficResult | None:
        """The finished run's result; None if it still runs after `wait_ms`.

        DataPlaneError when the run was stopped: it has no counts.
        """
        wait = TrafficWait(wait_ms=wait_ms)
        result = self.call("traffic.result", wait.arguments(), timeout_s=self._timeout_s + wait_ms / MS_PER_S)
        now = _parsed(RunState, result)
        if now.state == "stopped":
            raise DataPlaneError(
                "stopped",
                f"run {now.run} was stopped before its end",
                fix="start it again, and let it end before `stop`",
            )
        return _parsed(TrafficResult, result) if now.state == "done" else None

    def traffic_interval(self) -> TrafficInterval:
        """The run up to now, and what happened in it since this was asked last."""
        return self.ask("traffic.interval", TrafficInterval)

    def finish_traffic(self) -> None:
        """Ends the sending of the run that goes on; it drains, and has its result."""
        self.call("traffic.finish")

    def delays(self, stream: int, of: Literal["latency", "ipdv"] = "latency") -> DelayHistogram:
        """One stream's delays in the run that goes on, or the last one."""
        return self.ask("traffic.delays", DelayHistogram, DelaysAsked(stream=stream, of=of))

    def report(self, area: str, stage: str, *, limit: int = 1000) -> NfReport:
        """What a function counts by itself: its figures, and at most `limit` of its counters."""
        asked = NfReportAsked(area=area, stage=stage, limit=limit)
        return self.ask("nf.report", NfReport, asked)

    def command(
        self, area: str, stage: str, command: str, args: Mapping[str, str | int | bool] | None = None
    ) -> None:
        """Changes a function while packets flow: of a dispatcher's area all its workers, or none."""
        asked = NfCommand(area=area, stage=stage, command=command, args=dict(args or {}))
        self.call("nf.command", asked.arguments(), timeout_s=max(self._timeout_s, CONFIGURE_TIMEOUT_S))

    def listen(self, area: str, stage: str, netns: str | None = None) -> None:
        """Others control a function from now on, until `reset`; `netns`: path of the network namespace in
        which it listens, absent: weir-dp's."""
        self.call("nf.listen", NfListen(area=area, stage=stage, netns=netns).arguments())

    def ledger(self) -> Ledger:
        """Everything counted since `configure`."""
        return self.ask("ledger", Ledger)

    def wait(self, seconds: float, others: Collection[int] = ()) -> bool:
        """Sleeps, but notices at once when weir-dp ends. True, and before its time: one of `others`, which
        are descriptors, can be read."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            readable, _, _ = select.select([self._socket.fileno(), *others], [], [], left)
            if self._socket.fileno() in readable:
                self._receive()
            elif readable:
                return True
        return False

    def ask(
        self,
        command: str,
        answer: type[Answer],
        request: Request | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        """One command; its result in that shape."""
        args = request.arguments() if request is not None else None
        return _parsed(answer, self.call(command, args, timeout_s=timeout_s))

    def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """One command, as it goes over the socket; its result object."""
        if self._broken:
            raise self._gone("the connection broke in the middle of an earlier command")
        deadline = time.monotonic() + (self._timeout_s if timeout_s is None else timeout_s)
        self._last_id += 1
        request = {"id": self._last_id, "cmd": command, "args": dict(args or {})}
        self._send(json.dumps(request).encode() + b"\n")
        while True:
            answer = self._answer(command, deadline)
            if answer.get("id") is None or answer["id"] == self._last_id:
                break
        if answer.get("ok") is not True:
            raise _refusal(command, answer.get("error") or {})
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def _connected(self, connect_s: float) -> socket.socket:
        deadline = time.monotonic() + connect_s
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self._path))
            except OSError as error:
                connection.close()
                if time.monotonic() >= deadline:
                    raise self._gone(f"cannot connect: {error.strerror or error}") from error
                time.sleep(CONNECT_RETRY_S)
            else:
                return connection

    def _send(self, line: bytes) -> None:
        self._broken = True  # until the whole line is out: Ctrl-C in between leaves half a command
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(line)
        except TimeoutError as error:
            raise DataPlaneTimeoutError(
                "timeout", "weir-dp does not read its socket", fix=self.log_hint
            ) from error
        except OSError as error:
            raise self._gone(f"weir-dp has ended ({error.strerror or error})") from error
        self._broken = False

    def _answer(self, command: str, deadline: float) -> dict[str, Any]:
        while (end := self._received.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                raise DataPlaneTimeoutError(
                    "timeout",
                    f"weir-dp did not answer {command} in time",
                    where=str(self._path),
                    fix=self.log_hint,
                )
            self._receive()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise DataPlaneError("bad_answer", f"weir-dp answered {line[:80]!r}", expected="JSON") from error
        if not isinstance(answer, dict):
            raise DataPlaneError("bad_answer", f"weir-dp answered {line[:80]!r}", expected="a JSON object")
        return answer

    def _receive(self) -> None:
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except OSError as error:
            raise self._gone(f"weir-dp has ended ({error.strerror or error})") from error
        if not data:
            raise self._gone("weir-dp has ended")
        self._received += data

    def _gone(self, message: str) -> DataPlaneGoneError:
        self._broken = True
        return DataPlaneGoneError("gone", message, where=str(self._path), fix=self.log_hint)


def _parsed(shape: type[Answer], result: object) -> Answer:
    try:
        return shape.model_validate(result)
    except ValidationError as error:
        where, what = first_fault(error)
        raise DataPlaneError(
            "bad_answer",
            f"weir-dp's answer is not the {shape.__name__} expected: {what}",
            where=where,
            fix="take weir-dp and weir of the same version: of one source, or one release",
        ) from error


def _refusal(command: str, error: Mapping[str, Any]) -> DataPlaneError:
    return DataPlaneError(
        str(error.get("code", "unknown")),
        str(error.get("message", "refused without a message")),
        where=error.get("where"),
        expected=error.get("expected"),
        fix=error.get("fix"),
        request=command,
    )
