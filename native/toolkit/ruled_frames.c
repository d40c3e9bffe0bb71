/* SPDX-License-Identifier: Apache-2.0 */
#include "ruled_frames.h"

#include <rte_byteorder.h>
#include <rte_ether.h>

#define ROUTER_SOLICITATION 133
#define REDIRECT 137
#define LINK_HOP_LIMIT 255 /* RFC 4861, 6.1 and 7.1: not from behind a router */

const char *const weir_not_ipv4_names[] = {
	[WEIR_NOT_IPV4_DROP] = "drop",
	[WEIR_NOT_IPV4_FORWARD] = "forward",
	NULL,
};

const char *const weir_frame_kind_names[] = {
	[WEIR_KIND_AS_NOT_IPV4] = "not_ipv4",
	[WEIR_KIND_DROP] = "drop",
	[WEIR_KIND_FORWARD] = "forward",
	NULL,
};

const char *const weir_ipv6_names[] = {
	[WEIR_IPV6_RULES] = "rules",
	[WEIR_IPV6_DROP] = "drop",
	[WEIR_IPV6_FORWARD] = "forward",
	[WEIR_IPV6_AS_NOT_IPV4] = "not_ipv4",
	NULL,
};

const char *const weir_discovery_names[] = {
	[WEIR_DISCOVERY_AS_IPV6] = "ipv6",
	[WEIR_DISCOVERY_DROP] = "drop",
	[WEIR_DISCOVERY_FORWARD] = "forward",
	NULL,
};

static enum weir_ruled
forwarded_if(bool forwarded)
{
	return forwarded ? WEIR_UNRULED_FORWARD : WEIR_UNRULED_DROP;
}

static bool
is_neighbor_discovery(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	uint8_t type;

	if (headers->tuple.protocol != IPPROTO_ICMPV6 || headers->l4_offset == 0 ||
	    (headers->flags & WEIR_HEADER_FRAGMENT) != 0 || headers->ttl != LINK_HOP_LIMIT)
		return false;
	type = *rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l4_offset);
	return type >= ROUTER_SOLICITATION && type <= REDIRECT;
}

static enum weir_ruled
ipv6(const struct weir_ruled_frames *options, const struct rte_mbuf *packet,
     const struct weir_headers *headers)
{
	if (options->neighbor_discovery != WEIR_DISCOVERY_AS_IPV6 &&
	    is_neighbor_discovery(packet, headers))
		return forwarded_if(options->neighbor_discovery == WEIR_DISCOVERY_FORWARD);
	if (options->ipv6 == WEIR_IPV6_RULES)
		return WEIR_RULED;
	if (options->ipv6 == WEIR_IPV6_AS_NOT_IPV4)
		return forwarded_if(options->all == WEIR_NOT_IPV4_FORWARD);
	return forwarded_if(options->ipv6 == WEIR_IPV6_FORWARD);
}

enum weir_ruled
weir_ruled_frame(const struct weir_ruled_frames *options, const struct rte_mbuf *packet,
		 const struct weir_headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	unsigned int said = options->other;
	uint32_t offset;
	uint16_t vlan;

	if (headers->network == WEIR_NETWORK_IPV6)
		return ipv6(options, packet, headers);
	offset = weir_l3_offset(frame, packet->data_len, &vlan);
	if (offset != 0 && weir_ethertype_before(frame, offset) == RTE_ETHER_TYPE_ARP)
		said = options->arp;
	if (said == WEIR_KIND_AS_NOT_IPV4)
		return forwarded_if(options->all == WEIR_NOT_IPV4_FORWARD);
	return forwarded_if(said == WEIR_KIND_FORWARD);
}
