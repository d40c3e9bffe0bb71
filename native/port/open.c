/* SPDX-License-Identifier: Apache-2.0 */
#include "open.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "kind.h"
#include "memory.h"
#include "netns.h"

static const struct weir_port_kind *const lists[] = {
	weir_ethdev_kinds,
	weir_memory_kinds,
	weir_packet_socket_kinds,
};

static const struct weir_port_kind *
kind_at(unsigned int index)
{
	for (unsigned int i = 0; i < RTE_DIM(lists); i++) {
		for (const struct weir_port_kind *kind = lists[i]; kind->name != NULL; kind++) {
			if (index-- == 0)
				return kind;
		}
	}
	return NULL;
}

const char *
weir_port_kind_name(unsigned int index)
{
	const struct weir_port_kind *kind = kind_at(index);

	return kind != NULL ? kind->name : NULL;
}

static const struct weir_port_kind *
kind_named(const struct weir_port_config *config, const char *where, struct weir_error *error)
{
	const struct weir_port_kind *kind;
	char place[96], expected[160];
	size_t used = 0;

	for (unsigned int i = 0; (kind = kind_at(i)) != NULL; i++) {
		if (strcmp(kind->name, config->kind) == 0)
			return kind;
		used += snprintf(expected + used, sizeof(expected) - used, "%s, ", kind->name);
	}
	snprintf(expected + used, sizeof(expected) - used, "others by `devargs`");
	snprintf(place, sizeof(place), "%s.kind", where);
	weir_fail(error, "bad_argument", place, expected, NULL, "unknown kind of port '%s'",
		  config->kind);
	return NULL;
}

/* The kind of the port, if the request says all that this kind needs. */
static const struct weir_port_kind *
kind_of(const struct weir_port_config *config, const char *where, struct weir_error *error)
{
	const struct weir_port_kind *kind;

	if (config->devargs != NULL)
		return &weir_devargs_kind;
	if (config->kind == NULL) {
		weir_fail(error, "bad_argument", where, "`kind` or `devargs`", NULL,
			  "port '%s' says neither its kind nor devargs", config->name);
		return NULL;
	}
	kind = kind_named(config, where, error);
	if (kind == NULL)
		return NULL;
	if (kind->needs == WEIR_PORT_NEEDS_INTERFACE && config->interface == NULL)
		weir_fail(error, "bad_argument", where, "`interface`", NULL,
			  "port '%s' of kind %s needs the name of an interface", config->name,
			  kind->name);
	else if (kind->needs == WEIR_PORT_NEEDS_PEER && config->peer == NULL)
		weir_fail(error, "bad_argument", where, "`peer`", NULL,
			  "in-memory port '%s' has no peer", config->name);
	else
		return kind;
	return NULL;
}

/* Opens the port in the current namespace. */
static int
open_here(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	int status;

	if (config->interface != NULL && if_nametoindex(config->interface) != 0) {
		snprintf(port->interface, sizeof(port->interface), "%s", config->interface);
		port->flags_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	port->virtual_wire = config->virtual_wire;
	status = port->kind->open(config, port, error);
	if (status == 0)
		weir_port_keep();
	else if (port->flags_socket >= 0)
		close(port->flags_socket);
	return status;
}

struct opening {
	const struct weir_port_config *config;
	struct weir_port *port;
};

static int
open_there(void *argument, struct weir_error *error)
{
	const struct opening *opening = argument;

	return open_here(opening->config, opening->port, error);
}

static int
open_in_netns(const struct weir_port_config *config, struct weir_port *port,
	      struct weir_error *error)
{
	struct opening opening = {config, port};

	return weir_netns_run(config->netns, config->name, open_there, &opening, error);
}

int
weir_port_open(const struct weir_port_config *config, const char *where, struct weir_error *error)
{
	const struct weir_port_kind *kind = kind_of(config, where, error);
	struct weir_port *port;
	char place[96];

	if (kind == NULL)
		return -1;
	if (kind->open_pair != NULL)
		return kind->open_pair(config, where, error);
	snprintf(place, sizeof(place), "%s.name", where);
	port = weir_port_room(config->name, place, kind, error);
	if (port == NULL)
		return -1;
	if (config->mac != NULL) {
		snprintf(place, sizeof(place), "%s.mac", where);
		if (rte_ether_unformat_addr(config->mac, &port->mac) != 0)
			return weir_fail(error, "bad_argument", place,
					 "an address such as 02:00:00:00:00:01", NULL,
					 "'%s' is not a MAC address", config->mac);
		port->has_mac = true;
	}
	if (config->netns != NULL)
		return open_in_netns(config, port, error);
	return open_here(config, port, error);
}

void
weir_port_stats(const struct weir_port *port, struct weir_port_stats *stats)
{
	port->kind->stats(port, stats);
}

/* Last opened, first closed: a virtio-user port goes before the vhost port that it talks to. */
void
weir_ports_close(void)
{
	struct weir_port *port;

	while ((port = weir_port_take_last()) != NULL) {
		port->kind->close(port);
		if (port->flags_socket >= 0)
			close(port->flags_socket);
	}
	weir_wires_free();
	weir_ports_memory_free();
}
