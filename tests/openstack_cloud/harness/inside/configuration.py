# SPDX-License-Identifier: Apache-2.0
"""Its programs' files, from those in `etc` beside this package, with its address and secrets filled in."""

from __future__ import annotations

import subprocess
from pathlib import Path
from string import Template

from .. import place

_SOURCES = Path(__file__).parents[1] / "etc"
_EBTABLES = Path("/etc/weir-ebtables")
_SHARE = "/var/lib/cinder/share"
_MOUNT_NFS = Path("/etc/weir-mount.nfs")
# Volumes are files, and what asks for them wants NFS, which this kernel may lack: its share is a directory.
_BIND = """#!/bin/sh
exec mount --bind "${1#*:}" "$2"
"""
# Debian's ebtables, over nftables, cannot delete rules with a list of addresses; Neutron's have one each.
_ONE_ADDRESS = """#!/bin/bash
words=()
while [ $# -gt 0 ]; do
	if [ "$1" = --among-src ] && [[ "$2" != *,* ]]; then
		words+=(-s "$2")
		shift 2
	else
		words+=("$1")
		shift
	fi
done
exec /usr/sbin/ebtables-nft "${words[@]}"
"""


def write() -> None:
    """Into /etc, which is its own."""
    values = _values()
    for source in sorted(_SOURCES.rglob("*")):
        if source.is_file():
            target = Path("/etc") / source.relative_to(_SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(Template(source.read_text()).substitute(values))
    _EBTABLES.write_text(_ONE_ADDRESS)
    _EBTABLES.chmod(0o755)
    _MOUNT_NFS.write_text(_BIND)
    _MOUNT_NFS.chmod(0o755)
    subprocess.run(["mount", "--bind", str(_MOUNT_NFS), "/usr/sbin/mount.nfs"], check=True)
    alternative = Path("/etc/alternatives/ebtables")
    alternative.unlink(missing_ok=True)
    alternative.symlink_to(_EBTABLES)
    place.CLOUDS.touch(mode=0o600)
    place.CLOUDS.write_text(_clouds())


def _values() -> dict[str, str]:
    password, identity = place.password(), f"http://{place.HOST}:5000"
    client = (
        f"auth_url = {identity}\nauth_type = password\n"
        "project_domain_name = Default\nuser_domain_name = Default\n"
        f"region_name = RegionOne\nproject_name = service\npassword = {password}"
    )
    authtoken = (
        f"www_authenticate_uri = {identity}\nmemcached_servers = 127.0.0.1:11211\n"
        f"service_token_roles_required = true\nservice_token_roles = admin\n{client}"
    )
    return {
        "password": password,
        "share": _SHARE,
        "host": place.HOST,
        "database": f"mysql+pymysql://os:{password}@127.0.0.1",
        "queue": "rabbit://guest:guest@127.0.0.1:5672/",
        "client": client,
        "authtoken": authtoken,
    }


def _clouds() -> str:
    lines = ["clouds:"]
    for cloud, user, project in ((place.CLOUD, "admin", "admin"), (place.MEMBER_CLOUD, "member", "members")):
        lines += [
            f"  {cloud}:",
            "    region_name: RegionOne",
            "    identity_api_version: 3",
            "    auth:",
            f"      auth_url: http://{place.HOST}:5000/v3",
            f"      username: {user}",
            f"      password: {place.password()}",
            f"      project_name: {project}",
            "      user_domain_name: Default",
            "      project_domain_name: Default",
        ]
    return "\n".join(lines) + "\n"
