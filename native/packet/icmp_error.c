/* SPDX-License-Identifier: Apache-2.0 */
#include "icmp_error.h"

#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "action.h"

#define DESTINATION_UNREACHABLE 3
#define SOURCE_QUENCH 4
#define TIME_EXCEEDED 11
#define PARAMETER_PROBLEM 12
#define L4_BYTES_MIN 8
#define FRAGMENT_OFFSET_MASK 0x1fff

static bool
is_error(uint8_t type)
{
	return type == DESTINATION_UNREACHABLE || type == SOURCE_QUENCH || type == TIME_EXCEEDED ||
	       type == PARAMETER_PROBLEM;
}

/* The ports of the first 8 bytes of the L4 header, if its protocol has any; false: ICMP that is not
 * echo, such as an error. */
static bool
read_ports(const uint8_t *l4, struct weir_tuple *tuple)
{
	switch (tuple->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		memcpy(&tuple->src_port, l4, 4);
		return true;
	case IPPROTO_ICMP:
		if (l4[0] != RTE_IP_ICMP_ECHO_REQUEST && l4[0] != RTE_IP_ICMP_ECHO_REPLY)
			return false;
		memcpy(&tuple->src_port, l4 + offsetof(struct rte_icmp_hdr, icmp_ident), 2);
		tuple->dst_port = tuple->src_port;
		return true;
	default: /* GRE, ESP, tunnels */
		return true;
	}
}

bool
weir_icmp_error_parse(const struct rte_mbuf *packet, const struct weir_headers *headers,
		      struct weir_icmp_error *error)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t end = headers->l3_offset + headers->l3_bytes;
	const struct rte_ipv4_hdr *ip;
	uint32_t header_bytes;

	if (headers->network != WEIR_NETWORK_IPV4 || headers->tuple.protocol != IPPROTO_ICMP ||
	    headers->l4_offset == 0 || (headers->flags & WEIR_HEADER_FRAGMENT) != 0 ||
	    !is_error(frame[headers->l4_offset]) || headers->payload_offset + sizeof(*ip) > end)
		return false;
	ip = (const void *)(frame + headers->payload_offset);
	header_bytes = (ip->version_ihl & 0xf) * 4;
	if ((ip->version_ihl >> 4) != 4 || header_bytes < sizeof(*ip) ||
	    headers->payload_offset + header_bytes + L4_BYTES_MIN > end ||
	    (ip->fragment_offset & rte_cpu_to_be_16(FRAGMENT_OFFSET_MASK)) != 0)
		return false;
	memset(error, 0, sizeof(*error));
	error->ip_offset = headers->payload_offset;
	error->l4_offset = headers->payload_offset + header_bytes;
	error->tuple.src_ip = ip->src_addr;
	error->tuple.dst_ip = ip->dst_addr;
	error->tuple.protocol = ip->next_proto_id;
	return read_ports(frame + error->l4_offset, &error->tuple);
}

/* Writes a 16-bit word and adds to `change` what that is to a checksum over it. */
static void
put(uint8_t *at, uint16_t after, uint32_t *change)
{
	uint16_t before;

	memcpy(&before, at, sizeof(before));
	*change += weir_checksum_change16(before, after);
	memcpy(at, &after, sizeof(after));
}

/* Brings the checksum at `at` up to date with `change`, of which it is the sum. */
static void
follow(uint8_t *at, uint32_t change, bool is_udp, uint32_t *outer_change)
{
	uint16_t checksum;

	memcpy(&checksum, at, sizeof(checksum));
	if (is_udp && checksum == 0)
		return;
	checksum = weir_checksum_changed(checksum, change);
	put(at, is_udp && checksum == 0 ? 0xffff : checksum, outer_change);
}

/* The L4 header inside, of which `l4_bytes` are there. `address_change`: what the addresses are to
 * its pseudo header. */
static void
rewrite_l4(uint8_t *l4, uint32_t l4_bytes, const struct weir_tuple *after, uint32_t address_change,
	   uint32_t *outer_change)
{
	uint32_t change = 0;

	if (after->protocol == IPPROTO_ICMP) {
		put(l4 + offsetof(struct rte_icmp_hdr, icmp_ident), after->src_port, &change);
		*outer_change += change;
		follow(l4 + offsetof(struct rte_icmp_hdr, icmp_cksum), change, false, outer_change);
		return;
	}
	if (after->protocol != IPPROTO_TCP && after->protocol != IPPROTO_UDP)
		return;
	put(l4, after->src_port, &change);
	put(l4 + 2, after->dst_port, &change);
	*outer_change += change;
	change += address_change;
	if (after->protocol == IPPROTO_UDP)
		follow(l4 + offsetof(struct rte_udp_hdr, dgram_cksum), change, true, outer_change);
	else if (l4_bytes >= offsetof(struct rte_tcp_hdr, tcp_urp))
		follow(l4 + offsetof(struct rte_tcp_hdr, cksum), change, false, outer_change);
}

void
weir_icmp_error_rewrite(struct rte_mbuf *packet, const struct weir_headers *headers,
			const struct weir_icmp_error *error, const struct weir_tuple *after)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	uint32_t end = headers->l3_offset + headers->l3_bytes;
	struct rte_ipv4_hdr *ip = (void *)(frame + error->ip_offset);
	uint32_t address_change = weir_checksum_change32(error->tuple.src_ip, after->src_ip) +
				  weir_checksum_change32(error->tuple.dst_ip, after->dst_ip);
	uint32_t outer_change = address_change;

	ip->src_addr = after->src_ip;
	ip->dst_addr = after->dst_ip;
	follow((uint8_t *)&ip->hdr_checksum, address_change, false, &outer_change);
	rewrite_l4(frame + error->l4_offset, end - error->l4_offset, after, address_change,
		   &outer_change);
	follow(frame + headers->l4_offset + offsetof(struct rte_icmp_hdr, icmp_cksum), outer_change,
	       false, &(uint32_t){0});
}
