/* SPDX-License-Identifier: Apache-2.0 */
#include "veth_peer.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES 16384

/* Where other namespaces can be found, those with a name first: that is what a message can tell. */
static const char *const places[] = {"/run/netns/*", "/proc/[0-9]*/ns/net"};

struct request {
	struct nlmsghdr header;
	union {
		struct ifinfomsg link;
		struct rtgenmsg namespace;
	} of;
	char room[16]; /* for an attribute */
};

union answer {
	struct nlmsghdr header;
	char bytes[ANSWER_BYTES];
};

/* Asks the kernel; false: it refuses, or answers with something else than `type`. */
static bool
ask(int fd, struct request *request, union answer *answer, uint16_t type)
{
	ssize_t bytes;

	request->header.nlmsg_flags = NLM_F_REQUEST;
	if (send(fd, request, request->header.nlmsg_len, 0) < 0)
		return false;
	bytes = recv(fd, answer, sizeof(*answer), 0);
	return bytes > 0 && NLMSG_OK(&answer->header, (size_t)bytes) &&
	       answer->header.nlmsg_type == type;
}

static const struct rtattr *
attribute(const struct rtattr *first, size_t bytes, unsigned short type)
{
	for (const struct rtattr *one = first; RTA_OK(one, bytes); one = RTA_NEXT(one, bytes)) {
		if (one->rta_type == type)
			return one;
	}
	return NULL;
}

static int
number_in(const struct rtattr *attribute)
{
	int number;

	memcpy(&number, RTA_DATA(attribute), sizeof(number));
	return number;
}

static bool
is_veth(const struct rtattr *info)
{
	const struct rtattr *kind = NULL;

	if (info != NULL)
		kind = attribute(RTA_DATA(info), RTA_PAYLOAD(info), IFLA_INFO_KIND);
	return kind != NULL && strcmp(RTA_DATA(kind), "veth") == 0;
}

/* The number of the peer in its namespace, and that of this namespace as seen from here; -1: it is
 * this one. 0: there is none. */
static unsigned int
peer_of(int fd, const char *interface, int *namespace)
{
	struct request request = {
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			   .nlmsg_type = RTM_GETLINK},
		.of.link = {.ifi_index = (int)if_nametoindex(interface)},
	};
	const struct rtattr *first, *peer, *elsewhere;
	union answer answer;
	size_t bytes;

	if (request.of.link.ifi_index == 0 || !ask(fd, &request, &answer, RTM_NEWLINK))
		return 0;
	first = IFLA_RTA(NLMSG_DATA(&answer.header));
	bytes = IFLA_PAYLOAD(&answer.header);
	peer = attribute(first, bytes, IFLA_LINK);
	elsewhere = attribute(first, bytes, IFLA_LINK_NETNSID);
	if (peer == NULL || !is_veth(attribute(first, bytes, IFLA_LINKINFO)))
		return 0;
	*namespace = elsewhere != NULL ? number_in(elsewhere) : -1;
	return (unsigned int)number_in(peer);
}

/* The number that the namespace at `netns_fd` has here; -1: none. */
static int
namespace_number(int fd, int netns_fd)
{
	struct request request = {
		.header = {.nlmsg_len = NLMSG_SPACE(sizeof(struct rtgenmsg)) +
					RTA_LENGTH(sizeof(netns_fd)),
			   .nlmsg_type = RTM_GETNSID},
		.of.namespace = {.rtgen_family = AF_UNSPEC},
	};
	struct rtattr *named =
		(struct rtattr *)((char *)&request + NLMSG_SPACE(sizeof(struct rtgenmsg)));
	const struct rtattr *number;
	union answer answer;

	named->rta_type = NETNSA_FD;
	named->rta_len = RTA_LENGTH(sizeof(netns_fd));
	memcpy(RTA_DATA(named), &netns_fd, sizeof(netns_fd));
	if (!ask(fd, &request, &answer, RTM_NEWNSID))
		return -1;
	number = attribute((const struct rtattr *)((const char *)NLMSG_DATA(&answer.header) +
						   NLMSG_ALIGN(sizeof(struct rtgenmsg))),
			   NLMSG_PAYLOAD(&answer.header, sizeof(struct rtgenmsg)), NETNSA_NSID);
	return number != NULL ? number_in(number) : -1;
}

static bool
find_namespace(int fd, int number, struct weir_veth_peer *peer)
{
	glob_t found = {0};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		glob(places[i], GLOB_NOSORT | (i > 0 ? GLOB_APPEND : 0), NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && peer->netns_fd < 0; i++) {
		int netns_fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		if (netns_fd < 0)
			continue;
		if (namespace_number(fd, netns_fd) == number) {
			snprintf(peer->netns, sizeof(peer->netns), "%s", found.gl_pathv[i]);
			peer->netns_fd = netns_fd;
		} else {
			close(netns_fd);
		}
	}
	globfree(&found);
	return peer->netns_fd >= 0;
}

bool
weir_veth_peer_enter(const struct weir_veth_peer *peer, int *home)
{
	*home = -1;
	if (peer->netns_fd < 0)
		return true;
	*home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (*home >= 0 && setns(peer->netns_fd, CLONE_NEWNET) == 0)
		return true;
	if (*home >= 0)
		close(*home);
	return false;
}

bool
weir_veth_peer_leave(int home)
{
	bool left = home < 0 || setns(home, CLONE_NEWNET) == 0;

	if (home >= 0)
		close(home);
	return left;
}

bool
weir_veth_peer_find(const char *interface, struct weir_veth_peer *peer)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int namespace = -1, home;
	unsigned int number = peer_of(fd, interface, &namespace);
	bool found = number != 0;

	*peer = (struct weir_veth_peer){.netns_fd = -1};
	if (found && namespace >= 0)
		found = find_namespace(fd, namespace, peer);
	if (fd >= 0)
		close(fd);
	if (!found || !weir_veth_peer_enter(peer, &home))
		return false;
	found = if_indextoname(number, peer->interface) != NULL;
	return weir_veth_peer_leave(home) && found;
}
