/* SPDX-License-Identifier: Apache-2.0 */
/* What all ports that are devices of DPDK share; for the files of this folder. */
#ifndef WEIR_PORT_ETHDEV_H
#define WEIR_PORT_ETHDEV_H

#include "port.h"

void weir_ethdev_close(struct weir_port *port);
void weir_ethdev_stats(const struct weir_port *port, struct weir_port_stats *stats);

#endif
