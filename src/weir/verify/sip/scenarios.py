# SPDX-License-Identifier: Apache-2.0
"""SIPp's scenarios, as the file of the system under test wants calls."""

from __future__ import annotations

from weir.lab.application import Application
from weir.verify.sip.functions import constants, filled, text
from weir.verify.sip.media import ECHO_PORT

AUDIO, AUDIO_S = "tone.pcma", 1
"""A file of G.711 A-law, and how long it lasts."""
_SILENCE = "\x55"
"""A sample of A-law; as text, so that it is written as any other file."""
_SAMPLES_PER_S = 8000
_PLAY = f'  <nop><action><exec rtp_stream="{AUDIO},-1,8,PCMA/8000"/></action></nop>\n'
_QUIET = '  <nop><action><exec rtp_stream="pause"/></action></nop>\n'


def caller(application: Application) -> str:
    """The scenario of a call."""
    hold = text("scenarios", "caller-hold.xml") if application.hold_s else ""
    if application.media:
        hold = _QUIET + hold
    media = _PLAY if application.media else ""
    whole = text("scenarios", "caller.xml").replace("  <!-- hold -->\n", hold)
    return _filled(whole.replace("  <!-- media -->\n", media), application)


def callee(application: Application) -> str:
    """Of who is called."""
    hold = text("scenarios", "callee-hold.xml") if application.hold_s else ""
    return _filled(text("scenarios", "callee.xml").replace("  <!-- hold -->\n", hold), application)


def register(application: Application) -> str:
    """Of a registration."""
    return _filled(text("scenarios", "register.xml"), application)


def audio() -> str:
    """What callers send, again and again."""
    return _SILENCE * (_SAMPLES_PER_S * AUDIO_S)


def call_s(application: Application) -> float:
    """How long a call takes that succeeds."""
    return application.ring_s + application.talk_s + application.hold_s


def _filled(scenario: str, application: Application) -> str:
    port = str(ECHO_PORT) if application.media else "[media_port]"
    return filled(scenario, constants(application) | {"MEDIA_PORT": port})
