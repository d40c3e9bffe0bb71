/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of a veth pair, in whatever network namespace it is. */
#ifndef WEIR_PORT_VETH_PEER_H
#define WEIR_PORT_VETH_PEER_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>

struct weir_veth_peer {
	char interface[IF_NAMESIZE];
	char netns[PATH_MAX]; /* "": the same as this end's */
	int netns_fd;	      /* to be closed; -1: the same as this end's */
};

/* Of an interface of the current network namespace. False: it is no end of such a pair, or the
 * other one is in a namespace that neither a name nor a process leads to. */
bool weir_veth_peer_find(const char *interface, struct weir_veth_peer *peer);
/* Enters the peer's namespace; false: not allowed. weir_veth_peer_leave() comes back to `home`. */
bool weir_veth_peer_enter(const struct weir_veth_peer *peer, int *home);
/* False: this thread could not come back. */
bool weir_veth_peer_leave(int home);

#endif
