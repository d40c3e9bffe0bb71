/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet inside an ICMP error message (RFC 792): what it was, and how a function that rewrites
 * addresses rewrites it too, so that its sender recognises it (RFC 5508, section 4.2).
 */
#ifndef WEIR_PACKET_ICMP_ERROR_H
#define WEIR_PACKET_ICMP_ERROR_H

#include <stdbool.h>

#include "headers.h"

struct weir_icmp_error {
	struct weir_tuple tuple; /* of the packet inside, as it is written there */
	uint16_t ip_offset;	 /* of its IP header, from the start of the frame */
	uint16_t l4_offset;	 /* of its L4 header, 8 bytes of which are there at least */
};

/*
 * Reads the packet inside. False: the packet is no error message (destination unreachable, source
 * quench, time exceeded, parameter problem), is a fragment, or has no packet inside with its first
 * 8 bytes, or a later fragment, or ICMP that is not echo. Ports are 0 but of TCP, UDP and ICMP
 * echo.
 */
bool weir_icmp_error_parse(const struct rte_mbuf *packet, const struct weir_headers *headers,
			   struct weir_icmp_error *error);

/*
 * Makes the tuple of the packet inside `after` (same protocol, of which none but TCP, UDP and ICMP
 * has ports; for ICMP echo the identifier is
 * after->src_port). Its checksums follow as far as they are there, and the error message's own. The
 * addresses of the error message itself stay: they are an action's to change.
 */
void weir_icmp_error_rewrite(struct rte_mbuf *packet, const struct weir_headers *headers,
			     const struct weir_icmp_error *error, const struct weir_tuple *after);

#endif
