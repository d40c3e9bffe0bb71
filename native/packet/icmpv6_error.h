/* SPDX-License-Identifier: Apache-2.0 */
/* The packet inside an ICMPv6 error message (RFC 4443, section 3): what it was. */
#ifndef WEIR_PACKET_ICMPV6_ERROR_H
#define WEIR_PACKET_ICMPV6_ERROR_H

#include <stdbool.h>

#include "headers.h"

struct weir_icmpv6_error {
	uint8_t src_ip[16], dst_ip[16]; /* of the packet inside, as it is written there */
	struct weir_tuple tuple;	/* the rest of it: its addresses are 0 */
	uint8_t type;			/* of ICMPv6 inside, which is echo */
};

/*
 * Reads the packet inside. False: the packet is no error message (destination unreachable, packet
 * too big, time exceeded, parameter problem), is a fragment, or has no IPv6 packet inside with the
 * first 8 bytes behind its extension headers, or a later fragment, or ICMPv6 that is not echo.
 * Ports are 0 but of TCP, UDP and ICMPv6 echo.
 */
bool weir_icmpv6_error_parse(const struct rte_mbuf *packet, const struct weir_headers *headers,
			     struct weir_icmpv6_error *error);

#endif
