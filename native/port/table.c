/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ports, and whether what is behind one has gone. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "packet_socket.h"
#include "room.h"
#include "stamping.h"

static struct weir_port ports[WEIR_PORTS_MAX];
static unsigned int count;

struct weir_port *
weir_port_room(const char *name, struct weir_error *error)
{
	struct weir_port *port;

	if (weir_port_find(name) != NULL) {
		weir_fail(error, "bad_argument", name, "a name that no other port has", NULL,
			  "there are two ports named '%s'", name);
		return NULL;
	}
	if (count == WEIR_PORTS_MAX) {
		weir_fail(error, "bad_argument", name, "at most 160 ports", NULL, "too many ports");
		return NULL;
	}
	port = &ports[count];
	memset(port, 0, sizeof(*port));
	snprintf(port->name, sizeof(port->name), "%s", name);
	port->id = count;
	snprintf(port->queue.name, sizeof(port->queue.name), "%s", name);
	port->flags_socket = -1;
	return port;
}

void
weir_port_keep(struct weir_port *port)
{
	(void)port;
	count++;
}

/* Last opened, first closed: a virtio-user port goes before the vhost port that it talks to. */
void
weir_ports_close(void)
{
	while (count > 0) {
		struct weir_port *port = &ports[--count];

		if (port->queue.kind == WEIR_QUEUE_DRIVER) {
			weir_packet_socket_close(port);
		} else {
			weir_stamping_end(port, "");
			rte_eth_dev_stop(port->queue.ethdev_id);
			rte_eal_hotplug_remove(port->vdev ? "vdev" : "pci", port->device);
		}
		if (port->flags_socket >= 0)
			close(port->flags_socket);
	}
	weir_port_rings_free();
	weir_ports_memory_free();
}

struct weir_port *
weir_port_find(const char *name)
{
	for (unsigned int i = 0; i < count; i++) {
		if (strcmp(ports[i].name, name) == 0)
			return &ports[i];
	}
	return NULL;
}

struct weir_port *
weir_port_at(unsigned int index)
{
	return &ports[index];
}

unsigned int
weir_port_count(void)
{
	return count;
}

void
weir_port_stats(const struct weir_port *port, struct rte_eth_stats *stats)
{
	if (port->queue.kind == WEIR_QUEUE_DRIVER) {
		weir_packet_socket_stats(port, stats);
		return;
	}
	memset(stats, 0, sizeof(*stats));
	rte_eth_stats_get(port->queue.ethdev_id, stats);
}

bool
weir_port_gone(const struct weir_port *port)
{
	struct rte_eth_link link;

	if (port->flags_socket >= 0) {
		struct ifreq request = {0};

		memcpy(request.ifr_name, port->interface, sizeof(request.ifr_name));
		return ioctl(port->flags_socket, SIOCGIFFLAGS, &request) < 0 ||
		       (request.ifr_flags & IFF_UP) == 0;
	}
	return rte_eth_link_get_nowait(port->queue.ethdev_id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_DOWN;
}
