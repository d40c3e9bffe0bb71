/* SPDX-License-Identifier: Apache-2.0 */
#include "icmpv6_error.h"

#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>
#include <rte_ip.h>

#define DESTINATION_UNREACHABLE 1
#define PARAMETER_PROBLEM 4
#define L4_BYTES_MIN 8
#define EXTENSIONS_MAX 8
#define FRAGMENT_OFFSET_MASK 0xfff8

/* Where the L4 header inside begins, and its protocol; 0: it is not there. */
static uint32_t
skip_extensions(const uint8_t *frame, uint32_t at, uint32_t end, uint8_t *protocol)
{
	for (unsigned int i = 0; i <= EXTENSIONS_MAX && at + L4_BYTES_MIN <= end; i++) {
		const uint8_t *header = frame + at;

		switch (*protocol) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
			at += 8 * (1 + header[1]);
			break;
		case IPPROTO_FRAGMENT:
			if (((header[2] << 8 | header[3]) & FRAGMENT_OFFSET_MASK) != 0)
				return 0;
			at += 8;
			break;
		default:
			return at;
		}
		*protocol = header[0];
	}
	return 0;
}

/* The ports of the first 8 bytes; false: ICMPv6 that is not echo, such as an error. */
static bool
read_ports(const uint8_t *l4, struct weir_icmpv6_error *error)
{
	struct weir_tuple *tuple = &error->tuple;

	switch (tuple->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		memcpy(&tuple->src_port, l4, 4);
		return true;
	case IPPROTO_ICMPV6:
		if (!weir_icmp_is_echo(IPPROTO_ICMPV6, l4[0]))
			return false;
		error->type = l4[0];
		memcpy(&tuple->src_port, l4 + offsetof(struct rte_icmp_hdr, icmp_ident), 2);
		tuple->dst_port = tuple->src_port;
		return true;
	default: /* ESP, tunnels */
		return true;
	}
}

bool
weir_icmpv6_error_parse(const struct rte_mbuf *packet, const struct weir_headers *headers,
			struct weir_icmpv6_error *error)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t end = headers->l3_offset + headers->l3_bytes, l4;
	const struct rte_ipv6_hdr *ip;

	if (headers->network != WEIR_NETWORK_IPV6 || headers->tuple.protocol != IPPROTO_ICMPV6 ||
	    headers->l4_offset == 0 || (headers->flags & WEIR_HEADER_FRAGMENT) != 0 ||
	    frame[headers->l4_offset] < DESTINATION_UNREACHABLE ||
	    frame[headers->l4_offset] > PARAMETER_PROBLEM ||
	    headers->payload_offset + sizeof(*ip) > end)
		return false;
	ip = (const void *)(frame + headers->payload_offset);
	if (*(const uint8_t *)ip >> 4 != 6)
		return false;
	memset(error, 0, sizeof(*error));
	memcpy(error->src_ip, ip->src_addr, sizeof(error->src_ip));
	memcpy(error->dst_ip, ip->dst_addr, sizeof(error->dst_ip));
	error->tuple.protocol = ip->proto;
	l4 = skip_extensions(frame, headers->payload_offset + sizeof(*ip), end,
			     &error->tuple.protocol);
	return l4 != 0 && read_ports(frame + l4, error);
}
