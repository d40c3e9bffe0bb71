/* SPDX-License-Identifier: Apache-2.0 */
/* The extension headers of an IPv6 packet, as who it is for reads them (RFC 8200, section 4). */
#ifndef WEIR_PACKET_IPV6_EXTENSIONS_H
#define WEIR_PACKET_IPV6_EXTENSIONS_H

#include <rte_ip.h>

#include "headers.h"

enum weir_ipv6_extensions {
	WEIR_IPV6_EXTENSIONS_KNOWN,
	WEIR_IPV6_EXTENSIONS_DISCARD,	     /* and nobody is told */
	WEIR_IPV6_EXTENSIONS_ROUTE_UNKNOWN,  /* parameter problem, code 0 */
	WEIR_IPV6_EXTENSIONS_OPTION_UNKNOWN, /* parameter problem, code 2 */
};

/*
 * Reads those that weir_headers_parse() walked, and knows no option but padding and no route that
 * leads on. `pointer`: where in the packet what a parameter problem is about is.
 */
enum weir_ipv6_extensions weir_ipv6_extensions_read(const struct rte_ipv6_hdr *ip,
						    const struct weir_headers *headers,
						    uint32_t *pointer);

#endif
