/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a port's device stamps what it receives by a clock that can be read: then arrivals are
 * timed by it. What leaves is always timed by the time-stamp counter: the launch times that a few
 * cards take (RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) say when a packet should leave, and the
 * register that others have holds the time of one packet in thousands.
 */
#ifndef WEIR_PORT_STAMPING_H
#define WEIR_PORT_STAMPING_H

#include <rte_ethdev.h>

#include "port.h"

/* Before the device is configured: asks for its stamps, or says in port->no_clock why not. */
void weir_stamping_ask(const struct rte_eth_dev_info *info, struct weir_port *port,
		       struct rte_eth_conf *conf);
/* Once it has started, if stamps were asked for: finds its clock and sets port->clock. False: with
 * port->no_clock, and the device is to be configured again without stamps, which cost it time. */
bool weir_stamping_begin(struct weir_port *port);
/* Gives the clock back, if there is one: `why` is port->no_clock from here on. */
void weir_stamping_end(struct weir_port *port, const char *why);

#endif
