/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel interface, or the other end of a veth pair, leaves to a network card: checksums,
 * and segments that are merged or still to be cut. packet_socket does the card's work
 * (unfinished.h). Drivers of DPDK are not told that there is any: with them such an interface is
 * refused, and a frame that comes unfinished all the same is dropped.
 */
#ifndef WEIR_PORT_OFFLOADS_H
#define WEIR_PORT_OFFLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/headers.h"
#include "port.h"

/* -1 with `error` where the interface, which is in the current network namespace, may hand over
 * frames that are not as on a wire. The other end of a pair is looked for in namespaces that have a
 * name or a process. */
int weir_offloads_refuse(const struct weir_port_config *config, struct weir_error *error);

/* The same for a program at the interface, which sees neither what is left to a card nor a VLAN tag
 * that the kernel keeps beside the frame. The interface must be an end of a veth pair. */
int weir_offloads_refuse_hidden(const char *port, const char *interface, struct weir_error *error);

/* Whether the TCP or UDP checksum is left to a card: the field holds the sum over the pseudo
 * header, and is no checksum of the packet. Merged segments are so too. */
bool weir_is_unfinished(const struct rte_mbuf *packet, const struct weir_headers *headers);

#endif
