/* SPDX-License-Identifier: Apache-2.0 */
/* The in-memory wire: two ring ports, cross-connected. No copy, no loss but a full ring, counted by
 * the sender. */
#include "memory.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "ethdev.h"
#include "kind.h"

#define RING_SLOTS 4096

static struct rte_ring *wires[WEIR_PORTS_MAX];
static unsigned int wire_count;

void
weir_wires_free(void)
{
	while (wire_count > 0)
		weir_packet_ring_free(wires[--wire_count]);
}

static int
open_end(const char *name, const char *where, const char *peer, struct rte_ring *in,
	 struct rte_ring *out, struct weir_error *error)
{
	struct weir_port *port = weir_port_room(name, where, &weir_memory_kinds[0], error);
	const struct rte_eth_conf plain = {0};
	int id;

	if (port == NULL)
		return -1;
	id = rte_eth_from_rings(name, &in, 1, &out, 1, SOCKET_ID_ANY);
	if (id < 0)
		return weir_fail(error, "port_failed", name, NULL, NULL,
				 "cannot make a ring port: %s", rte_strerror(rte_errno));
	port->queue.kind = WEIR_QUEUE_ETHDEV;
	port->queue.ethdev_id = id;
	port->vdev = true;
	port->virtual_wire = true;
	snprintf(port->device, sizeof(port->device), "net_ring_%s", name);
	snprintf(port->driver, sizeof(port->driver), "memory");
	snprintf(port->peer, sizeof(port->peer), "%s", peer);
	if (rte_eth_dev_configure(id, 1, 1, &plain) != 0 ||
	    rte_eth_rx_queue_setup(id, 0, RING_SLOTS, SOCKET_ID_ANY, NULL, weir_ports_mempool()) !=
		    0 ||
	    rte_eth_tx_queue_setup(id, 0, RING_SLOTS, SOCKET_ID_ANY, NULL) != 0 ||
	    rte_eth_dev_start(id) != 0) {
		rte_eal_hotplug_remove("vdev", port->device);
		return weir_fail(error, "port_failed", name, NULL, NULL,
				 "cannot start the ring port");
	}
	rte_eth_macaddr_get(id, &port->mac);
	weir_port_keep();
	return 0;
}

static int
open_pair(const struct weir_port_config *config, const char *where, struct weir_error *error)
{
	const struct weir_port *open = weir_port_find(config->name);
	const char *left = config->name, *right = config->peer;
	char name[RTE_RING_NAMESIZE], left_place[96], right_place[96];
	struct rte_ring *rings[2];

	if (open != NULL && strcmp(open->peer, right) == 0)
		return 0;
	for (unsigned int i = 0; i < 2; i++) {
		if (wire_count == RTE_DIM(wires))
			return weir_fail(error, "bad_argument", where, NULL, NULL,
					 "too many in-memory ports");
		snprintf(name, sizeof(name), "wire-%u", wire_count);
		rings[i] = rte_ring_create(name, RING_SLOTS, SOCKET_ID_ANY,
					   RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (rings[i] == NULL) {
			return weir_fail(error, "no_memory", left, NULL, NULL,
					 "no memory for the ring of an in-memory port: %s",
					 rte_strerror(rte_errno));
		}
		wires[wire_count++] = rings[i];
	}
	snprintf(left_place, sizeof(left_place), "%s.name", where);
	snprintf(right_place, sizeof(right_place), "%s.peer", where);
	if (open_end(left, left_place, right, rings[0], rings[1], error) < 0 ||
	    open_end(right, right_place, left, rings[1], rings[0], error) < 0)
		return -1;
	return 0;
}

const struct weir_port_kind weir_memory_kinds[] = {
	{"memory", WEIR_PORT_NEEDS_PEER, .open_pair = open_pair, .close = weir_ethdev_close,
	 .stats = weir_ethdev_stats},
	{0},
};
