# SPDX-License-Identifier: Apache-2.0
"""dpi by Suricata inline: it copies frames between both interfaces by AF_PACKET, and drops what its rules say
(Suricata User Guide 7, "Setting up IPS/inline for Linux" and "Suricata Rules").

A rule of dpi is one of Suricata's with the same number, or one for TCP and one for UDP, which groups (gid)
tell apart: Suricata has no rule for both that asks about their payload alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weir.catalogue.launch import Launch, Place
from weir.catalogue.routes import Network
from weir.catalogue.rule_text import Match, Range, match
from weir.catalogue.setup import CatalogueError, Options, file_lines, given
from weir.lab.kernel import FILE_PREFIX, RUNTIME, SIDES

SOCKET = "suricata.socket"
"""In its runtime directory: what it counts is asked for there."""
_ACTIONS = {"permit": "pass", "drop": "drop", "label": "alert"}
_APPLICATIONS = {
    "dhcp": "dhcp",
    "dns": "dns",
    "ftp_control": "ftp",
    "http": "http",
    "http2": "http2",
    "imap": "imap",
    "kerberos": "krb5",
    "mqtt": "mqtt",
    "nfs": "nfs",
    "ntp": "ntp",
    "quic": "quic",
    "rdp": "rdp",
    "sip": "sip",
    "smbv23": "smb",
    "smtp": "smtp",
    "snmp": "snmp",
    "ssh": "ssh",
    "telnet": "telnet",
    "tftp": "tftp",
    "tls": "tls",
}
"""Suricata's names by nDPI's, in small letters."""
_PLAIN = re.compile(r"[A-Za-z0-9 _/=<>,@!%&'~#-]+")
"""An expression that is a text: Suricata looks for many of those at once."""
_SPECIAL = re.compile(r'\\.|["/;]')
_CODES = {'"': r"\x22", "/": r"\/", ";": r"\x3b"}
"""What ends something in rules of Suricata, as PCRE reads it; it does so with a backslash before it, too."""
_WORDS_MIN, _FLOW_WORDS = 3, (6, 7, 8)
_IPV6_RULE = 1
_GROUPS = {"ip": 1, "tcp": 6, "udp": 17, "again": 90, "ipv6": 41}
_DROPPED = "weir_dropped"
_FORM = "ID permit|drop|label, then /EXPRESSION/FLAGS, application NAME or flow and a five-tuple"


def dpi(options: Options, place: Place) -> Launch:
    """In one thread a core and interface."""
    rules = [*_rules(options)]
    if given("dpi", options, "ipv6") == "drop":
        rules.append(f'drop ipv6 any any -> any any (msg:"ipv6"; gid:{_GROUPS["ipv6"]}; sid:{_IPV6_RULE};)')
    # Nothing of /etc/suricata, which may be there or not, is read.
    words = ("-c", f"{{{FILE_PREFIX}config}}", "-S", f"{{{FILE_PREFIX}rules}}", "--af-packet")
    return Launch(
        (*words, "--runmode", "workers", "--init-errors-fatal", "-l", f"{{{RUNTIME}}}"),
        ready="Engine started",
        files={
            "config": _config(options, place),
            "rules": "".join(f"{one}\n" for one in rules),
            "nothing": "",
        },
    )


@dataclass(frozen=True)
class _Line:
    where: str
    text: str

    def refused(self, why: str, expected: str) -> CatalogueError:
        return CatalogueError(f"{self.where}: {why} in `{self.text}`", f"expected {expected}")


def _rules(options: Options) -> Iterator[str]:
    sticks = False
    for where, text in file_lines(options, "rules_file"):
        if text.startswith("#"):  # elsewhere it may belong to an expression
            continue
        line, words = _Line(where, text), text.split(maxsplit=2)
        if len(words) < _WORDS_MIN or not words[0].isdecimal() or words[1] not in _ACTIONS:
            raise line.refused("no rule", _FORM)
        number, action, what = int(words[0]), _ACTIONS[words[1]], words[2]
        if what.startswith("/"):
            sticks |= action == "drop"
            yield from _expression(line, number, action, what)
        elif what.startswith("application "):
            name = what.split()[-1]
            known = _APPLICATIONS.get(name.lower().rpartition(".")[2])
            if known is None:
                raise line.refused(f"Suricata knows no {name}", "one of " + ", ".join(sorted(_APPLICATIONS)))
            if not given("dpi", options, "applications"):
                continue  # Suricata knows none then, and ends; in Weir's dpi the rule matches nothing
            yield _rule(action, "ip", "any any -> any any", number, f"app-layer-protocol:{known};")
        elif what.startswith("flow ") and len(text.split()) in _FLOW_WORDS:
            yield _flow(number, action, match(where, text, what.split()[1:]))
        else:
            raise line.refused("no rule", _FORM)
    if sticks:  # of a datagram's flow Suricata drops what matched, and what comes behind it only if told
        yield _rule("drop", "ip", "any any -> any any", 1, f"flowbits:isset,{_DROPPED};", group="again")


def _expression(line: _Line, number: int, action: str, what: str) -> Iterator[str]:
    expression, slash, flags = what[1:].rpartition("/")
    if not slash or not expression or not set(flags) <= set("ism"):
        raise line.refused("no expression", "/EXPRESSION/ with flags i, s or m")
    if _PLAIN.fullmatch(expression):
        asked = f'content:"{expression}";' + (" nocase;" if "i" in flags else "")
    else:
        quoted = _SPECIAL.sub(lambda found: _CODES.get(found[0][-1], found[0]), expression)
        asked = f'pcre:"/{quoted}/{flags}";'
    if action == "drop":
        asked += f" flowbits:set,{_DROPPED};"
    for protocol in ("tcp", "udp"):
        yield _rule(action, protocol, "any any -> any any", number, asked)


def _flow(number: int, action: str, asked: Match) -> str:
    """A five-tuple as it is seen from the inside, of both directions."""
    if asked.protocol in ("icmp", "icmpv6", "tcp", "udp"):
        protocol, more = asked.protocol, ""
    else:
        protocol, more = "ip", "" if asked.protocol == "any" else f"ip_proto:{asked.protocol};"
    if asked.types is not None:
        raise asked.refused("types of messages", "a rule for all of them")
    if protocol == "ip" and asked.has_ports():
        raise asked.refused("ports of any protocol", "a rule for tcp and one for udp")
    source, destination = (_address(one) for one in (asked.source, asked.destination))
    ports = [_ports(one) for one in (asked.source_ports, asked.destination_ports)]
    return _rule(action, protocol, f"{source} {ports[0]} <> {destination} {ports[1]}", number, more)


def _address(prefix: Network | None) -> str:
    return "any" if prefix is None else str(prefix)


def _ports(ports: Range | None) -> str:
    if ports is None:
        return "any"
    return f"{ports[0]}:{ports[1]}" if ports[1] > ports[0] else str(ports[0])


def _rule(action: str, protocol: str, ends: str, number: int, asked: str, *, group: str = "") -> str:
    gid = _GROUPS.get(group or protocol, _GROUPS["ip"])
    body = " ".join(one for one in (f'msg:"{number}";', asked, f"gid:{gid};", f"sid:{number};") if one)
    return f"{action} {protocol} {ends} ({body})"


_ENGINE = """\
%YAML 1.1
---
default-log-dir: "{{{runtime}}}"
classification-file: "{{{file}nothing}}"
reference-config-file: "{{{file}nothing}}"
stats: {{enabled: yes, interval: 1}}
outputs: []
logging:
  default-log-level: notice
  outputs:
    - console: {{enabled: yes}}
unix-command: {{enabled: yes, filename: "{{{runtime}}}/{socket}"}}
af-packet:
{interfaces}
stream:
  memcap: 256mb
  checksum-validation: no
  midstream: true
  inline: yes
  drop-invalid: no
  reassembly: {{memcap: 256mb, depth: {depth}}}
flow: {{memcap: 512mb, hash-size: 262144, prealloc: 65536}}
flow-timeouts:
  default: {{new: {udp}, established: {udp}, closed: 0}}
  tcp: {{new: {tcp}, established: {tcp}, closed: {closed}}}
  udp: {{new: {udp}, established: {udp}}}
  icmp: {{new: {udp}, established: {udp}}}
app-layer:
  protocols:
{protocols}
exception-policy: ignore
threading: {{set-cpu-affinity: no}}
"""
_INTERFACE = """\
  - interface: {name}
    copy-iface: {other}
    copy-mode: ips
    threads: {threads}
    cluster-id: {cluster}
    cluster-type: cluster_flow
    defrag: no
    use-mmap: yes
    tpacket-v3: no
    ring-size: 8192
    checksum-checks: no"""


def _config(options: Options, place: Place) -> str:
    left, right = (place.ends[f"{side}.name"] for side in SIDES)
    applications = bool(given("dpi", options, "applications"))
    return _ENGINE.format(
        runtime=RUNTIME,
        file=FILE_PREFIX,
        socket=SOCKET,
        interfaces="\n".join(
            _INTERFACE.format(name=name, other=other, threads=place.threads(), cluster=cluster)
            for cluster, (name, other) in enumerate([(left, right), (right, left)], 90)
        ),
        depth=given("dpi", options, "payload_bytes_max"),
        tcp=given("dpi", options, "tcp_timeout_s"),
        closed=given("dpi", options, "closed_timeout_s"),
        udp=given("dpi", options, "udp_timeout_s"),
        protocols="\n".join(
            f"    {name}: {{enabled: {'yes' if applications else 'no'}}}"
            for name in sorted({*_APPLICATIONS.values()})
        ),
    )
