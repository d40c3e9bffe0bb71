/* SPDX-License-Identifier: Apache-2.0 */
#include "port.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rte_ethdev.h>

static struct weir_port ports[WEIR_PORTS_MAX];
static unsigned int count;

struct weir_port *
weir_port_room(const char *name, const char *where, const struct weir_port_kind *kind,
	       struct weir_error *error)
{
	struct weir_port *port;

	if (weir_port_find(name) != NULL) {
		weir_fail(error, "bad_argument", where, "a name that no other port has", NULL,
			  "there are two ports named '%s'", name);
		return NULL;
	}
	if (count == WEIR_PORTS_MAX) {
		weir_fail(error, "bad_argument", where, "at most 160 ports", NULL,
			  "too many ports");
		return NULL;
	}
	port = &ports[count];
	memset(port, 0, sizeof(*port));
	snprintf(port->name, sizeof(port->name), "%s", name);
	port->kind = kind;
	port->id = count;
	snprintf(port->queue.name, sizeof(port->queue.name), "%s", name);
	port->flags_socket = -1;
	return port;
}

void
weir_port_keep(void)
{
	count++;
}

struct weir_port *
weir_port_take_last(void)
{
	return count > 0 ? &ports[--count] : NULL;
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
