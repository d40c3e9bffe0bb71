# SPDX-License-Identifier: Apache-2.0
"""IPVS set up from lb's options, in the kernel of an emulated guest: this machine's may have none.

A client, the balancer and two back-ends are network namespaces of the guest; datagrams and their answers are
real.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from weir.catalogue import Ends, linux
from weir.fabric.function.counters import ipvs_drops, nft_drops
from weir.fabric.vm.image import Member, cache, initramfs
from weir.fabric.vm.packages import Kernel, kernel, libraries, program

QEMU = "qemu-system-x86_64"
pytestmark = [
    pytest.mark.slow,
    *(
        pytest.mark.skipif(shutil.which(one) is None, reason=f"{one} is not installed")
        for one in (QEMU, "ipvsadm", "nft", "busybox", "cc")
    ),
]
BOOT_S = 240.0
FLOWS = 24
SERVICE = "203.0.113.10:53/udp"
OPTIONS = {"services": f"{SERVICE} 10.0.0.1:5000, {SERVICE} 10.0.0.2:5000"}
ENDS = Ends(
    {"left.name": "left", "right.name": "right", "right.gateway": "169.254.2.2"},
    ("198.18.0.0/24", "2001:2::/64"),
)
MODULES = (
    *("veth", "ip_vs", "ip_vs_mh", "nf_tables", "nfnetlink", "nft_objref", "nft_compat", "nf_conntrack"),
    *("crc32c_generic", "libcrc32c"),
)
# `probe echo` answers what comes to port 5000 with the address that it was sent to. `probe send PORT N` sends
# from N ports, one after the other, and prints who answered from where.
PROBE = r"""
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
static int bound(const char *address, int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval limit = {.tv_sec = 1};
    inet_pton(AF_INET, address, &at.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (bind(fd, (void *)&at, sizeof at)) { perror(address); exit(1); }
    return fd;
}
int main(int argc, char **argv) {
    char text[64], from[32];
    if (argc == 3) {
        int fd = bound(argv[2], 5000);
        for (;;) {
            struct sockaddr_in peer; socklen_t length = sizeof peer;
            if (recvfrom(fd, text, sizeof text, 0, (void *)&peer, &length) >= 0)
                sendto(fd, argv[2], strlen(argv[2]) + 1, 0, (void *)&peer, length);
        }
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, "203.0.113.10", &to.sin_addr);
    for (int i = 0; i < atoi(argv[3]); ++i) {
        int fd = bound("198.18.0.1", 1024 + i);
        struct sockaddr_in peer; socklen_t length = sizeof peer;
        sendto(fd, "x", 1, 0, (void *)&to, sizeof to);
        if (recvfrom(fd, text, sizeof text, 0, (void *)&peer, &length) < 0)
            printf("answer none\n");
        else
            printf("answer %s from %s:%d\n", text, inet_ntop(AF_INET, &peer.sin_addr, from, sizeof from),
                   ntohs(peer.sin_port));
    }
}
"""
INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/programs:/bin
IP=/programs/ip  # the shell prefers an applet of its own
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /run; mount -t devtmpfs dev /dev
mkdir -p /var/run; ln -s /run/netns /var/run/netns
for one in $(cat /modules.list); do insmod /modules/$one.ko; done
for one in c f s; do $IP netns add $one; $IP -n $one link set lo up; done
$IP -n f link add left type veth peer name e0 netns c
$IP -n f link add right type veth peer name e0 netns s
$IP -n c addr add 198.18.0.1/24 dev e0; $IP -n c link set e0 up
$IP -n f addr add 198.18.0.254/24 dev left; $IP -n f link set left up
$IP -n f addr add 169.254.2.1/30 dev right; $IP -n f link set right up
$IP -n s addr add 169.254.2.2/30 dev e0; $IP -n s link set e0 up
$IP -n c route add default via 198.18.0.254; $IP -n s route add default via 169.254.2.1
for one in 10.0.0.1 10.0.0.2; do $IP -n s addr add $one/32 dev lo; done
$IP netns exec f sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
{set_up}
for one in 10.0.0.1 10.0.0.2; do $IP netns exec s probe echo $one & done
sleep 1
$IP netns exec c probe send 53 {flows}
$IP netns exec c probe send 53 {flows}
$IP netns exec c probe send 99 1
echo counters $($IP netns exec f nft --json list counters)
echo stats; $IP netns exec f cat /proc/net/ip_vs_stats; echo end of stats
$IP netns exec f ipvsadm -L -n --timeout
poweroff -f
"""


def booted(base: Kernel, folder: Path, init: str, files: dict[str, Member]) -> str:
    """What the guest says until it ends."""
    modules = base.ordered(MODULES)
    names = {name: program(name, name) for name in ("ip", "nft", "ipvsadm")}
    source = folder / "probe.c"
    source.write_text(PROBE)
    subprocess.run(["cc", "-O1", "-static", "-o", folder / "probe", source], check=True)
    members = {
        **files,
        "init": Member(init.encode(), 0o755),
        "bin/busybox": Member(program("busybox", "busybox-static").read_bytes(), 0o755),
        "programs/probe": Member((folder / "probe").read_bytes(), 0o755),
        "modules.list": Member("".join(f"{path.stem}\n" for path in modules).encode()),
    }
    members |= {f"modules/{path.name}": Member(path.read_bytes()) for path in modules}
    members |= {f"programs/{name}": Member(path.read_bytes(), 0o755) for name, path in names.items()}
    members |= {name: Member(path.read_bytes(), 0o755) for name, path in libraries(names.values()).items()}
    (folder / "initramfs").write_bytes(initramfs(members, ("proc", "sys", "run", "tmp", "etc", "dev")))
    words = [QEMU, "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-nic", "none"]
    words += ["-kernel", str(base.image), "-initrd", str(folder / "initramfs")]
    words += ["-append", "console=ttyS0 quiet panic=-1 no_timer_check"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=BOOT_S, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.replace("\r", "")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ipvs")
    made, files, lines = linux("lb", OPTIONS, ENDS, "ipvs"), {}, []
    for number, (words, text) in enumerate(made.programs):
        quoted = " ".join(f"'{word}'" for word in words)
        if text is not None:
            files[f"setup/{number}"] = Member(text.encode())
        lines.append(f"$IP netns exec f {quoted}" + (f" /setup/{number}" if text is not None else ""))
    with kernel(cache() / "packages") as base:
        return booted(base, folder, INIT.format(set_up="\n".join(lines), flows=FLOWS), files)


def answers(said: str) -> list[str]:
    return re.findall(r"^answer (.*)$", said, re.MULTILINE)


def test_every_datagram_is_answered_by_a_back_end_in_the_services_name(said: str) -> None:
    found = answers(said)[: 2 * FLOWS]
    assert len(found) == 2 * FLOWS, said[-2000:]
    assert {one.partition(" from ")[2] for one in found} == {"203.0.113.10:53"}
    backends = [one.partition(" ")[0] for one in found]
    assert {"10.0.0.1", "10.0.0.2"} == set(backends)
    assert min(map(backends.count, set(backends))) > FLOWS // 2


def test_a_flow_stays_with_its_back_end(said: str) -> None:
    found = answers(said)
    assert found[:FLOWS] == found[FLOWS : 2 * FLOWS]


def test_what_is_for_no_service_is_dropped_and_counted(said: str) -> None:
    assert answers(said)[-1] == "none"
    listed = next(line for line in said.splitlines() if line.startswith("counters ")).partition(" ")[2]
    drops = {one.reason: one.value for one in nft_drops("f1", (), listed)}
    assert drops["other"] == 1
    stats = said.partition("stats\n")[2].partition("end of stats")[0]
    assert ipvs_drops("f1", listed, stats).value == 0
    assert json.loads(listed)["nftables"]


def test_time_outs_are_those_of_lb(said: str) -> None:
    assert "Timeout (tcp tcpfin udp): 900 120 300" in said
