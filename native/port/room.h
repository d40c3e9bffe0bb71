/* SPDX-License-Identifier: Apache-2.0 */
/* The table of open ports, for the files of this folder only. */
#ifndef WEIR_PORT_ROOM_H
#define WEIR_PORT_ROOM_H

#include "port.h"

/* A cleared entry at the end of the table, its id set to its index, or NULL with `error`: name
 * taken, table full. */
struct weir_port *weir_port_room(const char *name, struct weir_error *error);
/* Keeps the entry that weir_port_room() gave. */
void weir_port_keep(struct weir_port *port);

void weir_ports_memory_free(void);
/* Frees the rings of the in-memory wires, after their ports have closed. */
void weir_port_rings_free(void);

#endif
