# SPDX-License-Identifier: Apache-2.0
"""The functions of each variant: in which server, with which files, started by which words."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from weir.base.si import MS_PER_S
from weir.ims.server import PORT as CX_PORT
from weir.lab.application import Application, Variant
from weir.verify.sip import kamailio, sipp
from weir.verify.sip.subscribers import PASSWORD, REALM, Subscribers

CALLER, CALLEE, SUBSCRIBERS = "caller", "callee", "subscribers"
FIRST: Mapping[Variant, str] = {"ims": "pcscf", "proxy": "proxy"}
"""The function that subscribers know."""
PATHS: Mapping[Variant, tuple[str, ...]] = {
    "ims": (CALLER, "pcscf", "scscf", "icscf", SUBSCRIBERS, "icscf", "scscf", "pcscf", CALLEE),
    "proxy": (CALLER, "proxy", CALLEE),
}
"""Servers as a call comes to them: who asks another gets it back. Neighbours are at different nodes."""
SERVERS: Mapping[Variant, tuple[str, ...]] = {
    variant: tuple(dict.fromkeys(path)) for variant, path in PATHS.items()
}
KAMAILIO: Mapping[Variant, tuple[str, ...]] = {"ims": ("pcscf", "scscf", "icscf"), "proxy": ("proxy",)}
"""In the order in which a call comes to them."""
TITLES: Mapping[str, str] = {
    "pcscf": "the P-CSCF",
    "icscf": "the I-CSCF",
    "scscf": "the S-CSCF",
    "proxy": "the proxy",
    SUBSCRIBERS: "the subscriber server",
}
_WORKERS = 2
_EXPIRES_S = 86_400
"""Of a registration: what a case may take at the longest, as nobody registers again within it."""
_INVITED_MS = 20_000
"""After which a function gives up an INVITE that nobody answers, beyond the ringing."""
_DIAMETER = frozenset({"icscf", "scscf"})
_SERVING = "sip:@scscf@:5060"
_TABLES: Mapping[str, str] = {
    "version": "table_name(string) table_version(int)\n",
    "nds_trusted_domains": f"id(int,auto) trusted_domain(string)\n1:{REALM}\n",
    "s_cscf": "id(int,auto) name(string) s_cscf_uri(string)\n1:scscf:sip\\:@scscf@\\:5060\n",
    "s_cscf_capabilities": "id(int,auto) id_s_cscf(int) capability(int)\n1:1:0\n",
}
"""What the I-CSCF wants to read from a database: its S-CSCF."""


@dataclass(frozen=True)
class Function:
    """A program in a server of its own. In texts and words @NAME@ stands for a value: the address of a
    server, OWN (its own), DIRECTORY."""

    server: str
    files: Mapping[str, str]
    words: tuple[str, ...]
    own_temporary: bool = False
    """Whether it leaves files in /tmp."""

    @property
    def title(self) -> str:
        """In sentences."""
        return TITLES[self.server]


def functions(application: Application, subscribers: Subscribers) -> list[Function]:
    """In the order in which they are started."""
    return [*_subscriber_server(application, subscribers), *_kamailios(application)]


def needs(application: Application) -> dict[str, str]:
    """Programs, and modules below /usr/lib, with the Debian package of each."""
    wanted = {"sipp": "sip-tester", "kamailio": "kamailio", "kamcmd": "kamailio"}
    if application.media:
        wanted["iptables"] = "iptables"
    if application.variant == "ims":
        where = "*/kamailio/modules"
        wanted |= {
            f"{where}/ims_icscf.so": "kamailio-ims-modules",
            f"{where}/presence.so": "kamailio-presence-modules",
        }
    return wanted


def _subscriber_server(application: Application, subscribers: Subscribers) -> Iterator[Function]:
    if application.variant != "ims":
        return
    words = (
        sys.executable, "-P", "-m", "weir.ims.server",  # not what lies in the current directory
        "--host", "@OWN@", "--realm", REALM, "--address", "@OWN@", "--port", str(CX_PORT),
        "--serving", _SERVING,
        "--subscribers", "@DIRECTORY@/subscribers.csv",
    )  # fmt: skip
    yield Function(SUBSCRIBERS, {"subscribers.csv": subscribers.server_file()}, words)


def _kamailios(application: Application) -> Iterator[Function]:
    for name in KAMAILIO[application.variant]:
        files = {one: text("kamailio", one) for one in ("sip_server.cfg", f"{name}.cfg")}
        if name in _DIAMETER:
            files["diameter.xml"] = text("kamailio", "diameter.xml")
        if name == "icscf":
            files |= {f"tables/{table}": rows for table, rows in _TABLES.items()}
        words = tuple(kamailio.words(f"@DIRECTORY@/{name}.cfg"))
        # Kamailio's Diameter makes pipes in /tmp, by a name in its text, and leaves them when it is ended.
        yield Function(name, files, words, own_temporary=name in _DIAMETER)


def asks_subscriber_server(name: str) -> bool:
    """Whether it is of use only when it has a connection to that."""
    return name in _DIAMETER


def text(folder: str, name: str) -> str:
    """Of a file beside this one."""
    return resources.files("weir.verify.sip").joinpath(folder, name).read_text(encoding="utf-8")


def filled(template: str, values: Mapping[str, str]) -> str:
    """Each @NAME@ by its value."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def constants(application: Application) -> dict[str, str]:
    """Values that are the same in all files. Who waits while another pauses waits for so much longer."""
    ring_ms, talk_ms, hold_ms = (
        round(seconds * MS_PER_S) for seconds in (application.ring_s, application.talk_s, application.hold_s)
    )
    times_ms = {
        "RING": ring_ms,
        "TALK": talk_ms,
        "HOLD": hold_ms,
        "ANSWERED": ring_ms + sipp.ANSWER_MS,
        "TALKED": talk_ms + sipp.ANSWER_MS,
        "HUNG_UP": (hold_ms or talk_ms) + sipp.ANSWER_MS,
        "GIVEN_UP": ring_ms + _INVITED_MS,
    }
    return {
        "REALM": REALM,
        "PASSWORD": PASSWORD,
        "WORKERS": str(_WORKERS),
        "EXPIRES_S": str(_EXPIRES_S),
        **{f"{name}_MS": str(value_ms) for name, value_ms in times_ms.items()},
    }
