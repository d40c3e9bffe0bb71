/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, counting and closing ports, by their kinds. Control thread only. */
#ifndef WEIR_PORT_OPEN_H
#define WEIR_PORT_OPEN_H

#include "port.h"

/* Opens, configures and starts one port, and a memory port's peer with it. `where`: the place of
 * the request. On failure nothing is left open. */
int weir_port_open(const struct weir_port_config *config, const char *where,
		   struct weir_error *error);
void weir_ports_close(void);

/* What the port counted since it was opened. */
void weir_port_stats(const struct weir_port *port, struct weir_port_stats *stats);

/* The name of a kind of port, by index from 0; NULL: there are no more. */
const char *weir_port_kind_name(unsigned int index);

#endif
