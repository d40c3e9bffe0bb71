/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel interface by an AF_PACKET socket of Weir's own. DPDK has a driver for that, but it
 * leaves packets in its ring when the kernel's next queue is full, so that a trial's account does
 * not close, and each of its ports takes one of DPDK's 32.
 */
#ifndef WEIR_PORT_PACKET_SOCKET_H
#define WEIR_PORT_PACKET_SOCKET_H

#include <rte_ethdev.h>

#include "port.h"

/* Opens config->interface in the current network namespace and fills port->queue. */
int weir_packet_socket_open(const struct weir_port_config *config, struct weir_port *port,
			    struct weir_error *error);
void weir_packet_socket_close(struct weir_port *port);
/* ipackets, ibytes, opackets, obytes; imissed: no room in the receive ring; rx_nombuf. */
void weir_packet_socket_stats(const struct weir_port *port, struct rte_eth_stats *stats);

#endif
