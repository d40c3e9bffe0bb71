/* SPDX-License-Identifier: Apache-2.0 */
#include "action.h"

#include <stddef.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

static inline void
change_checksum(uint8_t *at, uint32_t change)
{
	uint16_t checksum;

	memcpy(&checksum, at, sizeof(checksum));
	checksum = weir_checksum_changed(checksum, change);
	memcpy(at, &checksum, sizeof(checksum));
}

/* The L4 part of a change of the tuple: ports, and the checksum over them and the pseudo header. */
static inline void
rewrite_l4(uint8_t *l4, const struct weir_tuple *before, const struct weir_tuple *after,
	   uint32_t address_change)
{
	uint32_t port_change = weir_checksum_change16(before->src_port, after->src_port);
	uint16_t udp_checksum;

	switch (after->protocol) {
	case IPPROTO_TCP:
		memcpy(l4, &after->src_port, 4);
		port_change += weir_checksum_change16(before->dst_port, after->dst_port);
		change_checksum(l4 + offsetof(struct rte_tcp_hdr, cksum),
				port_change + address_change);
		break;
	case IPPROTO_UDP:
		memcpy(l4, &after->src_port, 4);
		memcpy(&udp_checksum, l4 + offsetof(struct rte_udp_hdr, dgram_cksum), 2);
		if (udp_checksum == 0)
			break;
		port_change += weir_checksum_change16(before->dst_port, after->dst_port);
		udp_checksum = weir_checksum_changed(udp_checksum, port_change + address_change);
		if (udp_checksum == 0)
			udp_checksum = 0xffff;
		memcpy(l4 + offsetof(struct rte_udp_hdr, dgram_cksum), &udp_checksum, 2);
		break;
	case IPPROTO_ICMP:
		if (after->src_port == before->src_port)
			break;
		memcpy(l4 + offsetof(struct rte_icmp_hdr, icmp_ident), &after->src_port, 2);
		change_checksum(l4 + offsetof(struct rte_icmp_hdr, icmp_cksum), port_change);
		break;
	default:
		break;
	}
}

static inline struct weir_tuple
tuple_after(const struct weir_action *action, const struct weir_tuple *before)
{
	struct weir_tuple after = *before;

	if ((action->set & WEIR_SET_SRC_IP) != 0)
		after.src_ip = action->src_ip;
	if ((action->set & WEIR_SET_DST_IP) != 0)
		after.dst_ip = action->dst_ip;
	if ((action->set & WEIR_SET_SRC_PORT) != 0)
		after.src_port = action->src_port;
	if ((action->set & WEIR_SET_DST_PORT) != 0)
		after.dst_port = action->dst_port;
	return after;
}

void
weir_action_rewrite_tuple(const struct weir_action *action, uint8_t *frame,
			  struct weir_headers *headers)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + headers->l3_offset);
	struct weir_tuple after = tuple_after(action, &headers->tuple);
	uint32_t change = weir_checksum_change32(headers->tuple.src_ip, after.src_ip) +
			  weir_checksum_change32(headers->tuple.dst_ip, after.dst_ip);

	ip->src_addr = after.src_ip;
	ip->dst_addr = after.dst_ip;
	ip->hdr_checksum = weir_checksum_changed(ip->hdr_checksum, change);
	if (headers->l4_offset != 0)
		rewrite_l4(frame + headers->l4_offset, &headers->tuple, &after, change);
	headers->tuple = after;
}

void
weir_action_update_headers(const struct weir_action *action, struct weir_headers *headers)
{
	if ((action->set & WEIR_SET_TUPLE) != 0 && headers->network == WEIR_NETWORK_IPV4)
		headers->tuple = tuple_after(action, &headers->tuple);
	if (action->ttl_decrement != 0 && headers->l3_offset != 0)
		headers->ttl -= action->ttl_decrement;
	if ((action->set & WEIR_SET_MAC) != 0)
		weir_headers_set_group(headers, &action->dst_mac);
}

void
weir_action_compose(struct weir_action *all, const struct weir_action *next)
{
	all->verdict = next->verdict;
	if (next->verdict != WEIR_FORWARD) {
		all->drop_reason = next->drop_reason;
		return;
	}
	all->set |= next->set;
	all->ttl_decrement += next->ttl_decrement;
	if (next->has_egress) {
		all->has_egress = true;
		all->egress = next->egress;
	}
	if ((next->set & WEIR_SET_MAC) != 0) {
		all->dst_mac = next->dst_mac;
		all->src_mac = next->src_mac;
	}
}
