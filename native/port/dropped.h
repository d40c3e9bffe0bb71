/* SPDX-License-Identifier: Apache-2.0 */
/* What an interface says it dropped of what was to be sent by it. */
#ifndef WEIR_PORT_DROPPED_H
#define WEIR_PORT_DROPPED_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* A file that tells of the interfaces of one network namespace, wherever its reader is. */
struct weir_dropped {
	int fd;
	char interface[IFNAMSIZ];
};

/* Of an interface in the network namespace of the calling thread. Where that cannot be told,
 * reading gives 0. */
void weir_dropped_open(struct weir_dropped *dropped, const char *interface);
void weir_dropped_close(struct weir_dropped *dropped);
/* Packets since the interface was made. Takes some microseconds. */
uint64_t weir_dropped_read(const struct weir_dropped *dropped);

/* tx_dropped of the interface in the text of proc_net_dev(5). False: it is not there. */
bool weir_dropped_in(const char *table, const char *interface, uint64_t *dropped);

#endif
