/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_extensions.h"

#define PAD1 0
#define PADN 1
#define ROUTING_TYPE_AT 2
#define SEGMENTS_LEFT_AT 3

/* RFC 8200, 4.2: the highest two bits of an option's type say what becomes of a packet by whom does
 * not know it. Group addresses, for which 2 and 3 differ, are nobody's who asks here. */
static enum weir_ipv6_extensions
read_option(uint8_t type)
{
	if (type == PADN || type >> 6 == 0)
		return WEIR_IPV6_EXTENSIONS_KNOWN;
	return type >> 6 == 1 ? WEIR_IPV6_EXTENSIONS_DISCARD : WEIR_IPV6_EXTENSIONS_OPTION_UNKNOWN;
}

/* Those of a header that begins at `at` and ends before `end`. */
static enum weir_ipv6_extensions
read_options(const uint8_t *ip, uint32_t at, uint32_t end, uint32_t *pointer)
{
	for (at += 2; at < end; at += 2 + ip[at + 1]) {
		enum weir_ipv6_extensions found;

		while (at < end && ip[at] == PAD1)
			at++;
		if (at == end)
			break;
		if (at + 1 == end || at + 2 + ip[at + 1] > end)
			return WEIR_IPV6_EXTENSIONS_DISCARD;
		found = read_option(ip[at]);
		*pointer = at;
		if (found != WEIR_IPV6_EXTENSIONS_KNOWN)
			return found;
	}
	return WEIR_IPV6_EXTENSIONS_KNOWN;
}

enum weir_ipv6_extensions
weir_ipv6_extensions_read(const struct rte_ipv6_hdr *header, const struct weir_headers *headers,
			  uint32_t *pointer)
{
	const uint8_t *ip = (const uint8_t *)header;
	enum weir_ipv6_extensions found = WEIR_IPV6_EXTENSIONS_KNOWN;
	uint8_t next = header->proto;
	uint32_t at = sizeof(*header);

	*pointer = 0;
	if ((headers->flags & (WEIR_HEADER_L4_CUT | WEIR_HEADER_LATER_FRAGMENT)) != 0)
		return WEIR_IPV6_EXTENSIONS_DISCARD;
	while (found == WEIR_IPV6_EXTENSIONS_KNOWN) {
		uint32_t bytes = 8;

		switch (next) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_DSTOPTS:
			bytes = 8 * (1 + ip[at + 1]);
			found = read_options(ip, at, at + bytes, pointer);
			break;
		case IPPROTO_ROUTING:
			bytes = 8 * (1 + ip[at + 1]);
			*pointer = at + ROUTING_TYPE_AT;
			if (ip[at + SEGMENTS_LEFT_AT] != 0)
				found = WEIR_IPV6_EXTENSIONS_ROUTE_UNKNOWN;
			break;
		case IPPROTO_FRAGMENT:
			break;
		default:
			return found;
		}
		next = ip[at];
		at += bytes;
	}
	return found;
}
