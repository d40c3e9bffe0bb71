/* SPDX-License-Identifier: Apache-2.0 */
/* A kind of port: how it is opened, closed and counted. For the files of this folder; open.c has
 * the list. */
#ifndef WEIR_PORT_KIND_H
#define WEIR_PORT_KIND_H

#include <rte_ethdev.h>

#include "port.h"

enum weir_port_needs { WEIR_PORT_NEEDS_NOTHING, WEIR_PORT_NEEDS_INTERFACE, WEIR_PORT_NEEDS_PEER };

/* What DPDK's buses want to know of a device. */
struct weir_device {
	const char *bus;
	char name[64];
	char arguments[512];
};

struct weir_port_kind {
	const char *name;
	enum weir_port_needs needs;
	/* Opens the port in the current network namespace and fills it. On failure nothing is left
	 * open. */
	int (*open)(const struct weir_port_config *config, struct weir_port *port,
		    struct weir_error *error);
	/* Instead, of a kind whose ports come in pairs: opens and keeps this one and its peer,
	 * unless the peer's request has done so. */
	int (*open_pair)(const struct weir_port_config *config, const char *where,
			 struct weir_error *error);
	void (*close)(struct weir_port *port);
	/* What the port counted since it was opened. */
	void (*stats)(const struct weir_port *port, struct weir_port_stats *stats);
	/* Of a DPDK device: which it is. `index`: a number that no other port has. */
	void (*device)(const struct weir_port_config *config, unsigned int index,
		       struct weir_device *device);
	/* Of a DPDK device that cuts frames to its places of weir_ports_room_bytes(): so much of
	 * each is no frame. Frames that fill the rest are dropped. 0: it does not cut. */
	uint32_t cut_head_bytes;
	/* Of a DPDK device that is not told what the kernel left to a card: frames that are not
	 * finished are refused. */
	bool finishes_nothing;
};

/* Each list ends with a kind without a name. */
extern const struct weir_port_kind weir_ethdev_kinds[], weir_memory_kinds[],
	weir_packet_socket_kinds[];
/* What DPDK opens by `devargs`; it has no name. */
extern const struct weir_port_kind weir_devargs_kind;

#endif
