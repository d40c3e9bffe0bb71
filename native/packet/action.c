/* SPDX-License-Identifier: Apache-2.0 */
#include "action.h"

#include <stddef.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vect.h>

static inline void
change_checksum(uint8_t *at, uint32_t change)
{
	uint16_t checksum;

	memcpy(&checksum, at, sizeof(checksum));
	checksum = weir_checksum_changed(checksum, change);
	memcpy(at, &checksum, sizeof(checksum));
}

/* What must be added to ~checksum when two 16-bit words change: both ports. */
static inline uint32_t
change_of_ports(const struct weir_tuple *before, const struct weir_tuple *after)
{
	uint32_t was, is;

	memcpy(&was, &before->src_port, sizeof(was));
	memcpy(&is, &after->src_port, sizeof(is));
	was = ~was;
	return (was & 0xffff) + (was >> 16) + (is & 0xffff) + (is >> 16);
}

/* Likewise of both addresses: eight words, added as four of 32 bits and then made small. */
static inline uint32_t
change_of_addresses(const struct weir_tuple *before, const struct weir_tuple *after)
{
	uint64_t was, is, sum;

	memcpy(&was, &before->src_ip, sizeof(was));
	memcpy(&is, &after->src_ip, sizeof(is));
	was = ~was;
	sum = (was & UINT32_MAX) + (was >> 32) + (is & UINT32_MAX) + (is >> 32);
	return (uint32_t)((sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32));
}

/* The L4 part of a change of the tuple: ports, and the checksum over them and the pseudo header. */
static inline void
rewrite_l4(uint8_t *l4, const struct weir_tuple *before, const struct weir_tuple *after,
	   uint32_t address_change)
{
	uint16_t udp_checksum;

	switch (after->protocol) {
	case IPPROTO_TCP:
		memcpy(l4, &after->src_port, 4);
		change_checksum(l4 + offsetof(struct rte_tcp_hdr, cksum),
				change_of_ports(before, after) + address_change);
		break;
	case IPPROTO_UDP:
		memcpy(l4, &after->src_port, 4);
		memcpy(&udp_checksum, l4 + offsetof(struct rte_udp_hdr, dgram_cksum), 2);
		if (udp_checksum == 0)
			break;
		udp_checksum = weir_checksum_changed(udp_checksum, change_of_ports(before, after) +
									   address_change);
		if (udp_checksum == 0)
			udp_checksum = 0xffff;
		memcpy(l4 + offsetof(struct rte_udp_hdr, dgram_cksum), &udp_checksum, 2);
		break;
	case IPPROTO_ICMP:
		if (after->src_port == before->src_port)
			break;
		memcpy(l4 + offsetof(struct rte_icmp_hdr, icmp_ident), &after->src_port, 2);
		change_checksum(l4 + offsetof(struct rte_icmp_hdr, icmp_cksum),
				weir_checksum_change16(before->src_port, after->src_port));
		break;
	default:
		break;
	}
}

/* An action has addresses and ports in the order of a tuple: what it sets is taken of it, by a mask
 * for each set of WEIR_SET_TUPLE. */
static_assert(offsetof(struct weir_action, dst_port) - offsetof(struct weir_action, src_ip) ==
			      offsetof(struct weir_tuple, dst_port) &&
		      offsetof(struct weir_action, src_port) -
				      offsetof(struct weir_action, src_ip) ==
			      offsetof(struct weir_tuple, src_port) &&
		      offsetof(struct weir_action, dst_ip) - offsetof(struct weir_action, src_ip) ==
			      offsetof(struct weir_tuple, dst_ip),
	      "one blend");
static_assert(sizeof(struct weir_action) - offsetof(struct weir_action, src_ip) >=
		      sizeof(struct weir_tuple),
	      "read as a tuple");

#define SRC_IP(set) ((set)&1 ? UINT32_MAX : 0)
#define DST_IP(set) ((set)&2 ? UINT32_MAX : 0)
#define PORTS(set) (((set)&4 ? 0xffffu : 0) | ((set)&8 ? 0xffff0000u : 0)) /* little endian */
#define MASK(set)                                                                                  \
	{                                                                                          \
		SRC_IP(set), DST_IP(set), PORTS(set), 0                                            \
	}

static inline struct weir_tuple
tuple_after(const struct weir_action *action, const struct weir_tuple *before)
{
	static const uint32_t masks[16][4] __attribute__((aligned(16))) = {
		MASK(0), MASK(1), MASK(2),  MASK(3),  MASK(4),	MASK(5),  MASK(6),  MASK(7),
		MASK(8), MASK(9), MASK(10), MASK(11), MASK(12), MASK(13), MASK(14), MASK(15),
	};
	const unsigned int set = (action->set & WEIR_SET_TUPLE) / WEIR_SET_SRC_IP;
	const __m128i was = _mm_loadu_si128((const __m128i *)before);
	const __m128i said = _mm_loadu_si128(
		(const __m128i *)((const uint8_t *)action + offsetof(struct weir_action, src_ip)));
	const __m128i mask = _mm_load_si128((const __m128i *)masks[set]);
	struct weir_tuple after;

	_mm_storeu_si128((__m128i *)&after, _mm_blendv_epi8(was, said, mask));
	return after;
}

void
weir_action_rewrite_tuple(const struct weir_action *action, uint8_t *frame,
			  struct weir_headers *headers)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + headers->l3_offset);
	struct weir_tuple after = tuple_after(action, &headers->tuple);
	uint32_t change = change_of_addresses(&headers->tuple, &after);

	memcpy(&ip->src_addr, &after.src_ip, 2 * sizeof(uint32_t));
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
