/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets a router forwards (RFC 1812, RFC 4291), and where to. */
#include "l3fwd.h"

#include <string.h>

#include <rte_ip.h>

/* Source routes (RFC 791) of IPv4 options. */
#define OPTION_END 0
#define OPTION_NOTHING 1
#define OPTION_LOOSE_SOURCE_ROUTE 131
#define OPTION_STRICT_SOURCE_ROUTE 137

#define FORWARDED L3FWD_DROPS

/* What the first byte of an IPv4 address says; RFC 1812, 5.3.7 and 4.2.2.11. */
enum octet { NO_SOURCE = 1 << 0, NO_DESTINATION = 1 << 1, GROUP = 1 << 2 };
static const uint8_t octets[256] = {
	[0] = NO_SOURCE | NO_DESTINATION,	    /* "this network" */
	[127] = NO_SOURCE | NO_DESTINATION,	    /* loopback */
	[224 ... 239] = NO_SOURCE | GROUP,	    /* multicast */
	[240 ... 255] = NO_SOURCE | NO_DESTINATION, /* class E, limited broadcast */
};

static inline uint8_t
first_octet(uint32_t address_be)
{
	uint8_t octet;

	memcpy(&octet, &address_be, 1);
	return octet;
}

/* A source route would take the packet where its sender likes: dropped, as RFC 7126 (4.3, 4.4)
 * advises. Other options are not for routers that forward by destination. */
static enum l3fwd_drop
check_options(const uint8_t *ip)
{
	unsigned int end = (ip[0] & 0xf) * 4;
	unsigned int at = sizeof(struct rte_ipv4_hdr);

	while (at < end && ip[at] != OPTION_END) {
		if (ip[at] == OPTION_NOTHING) {
			at++;
			continue;
		}
		if (at + 1 == end || ip[at + 1] < 2 || at + ip[at + 1] > end)
			return L3FWD_DROP_MALFORMED;
		if (ip[at] == OPTION_LOOSE_SOURCE_ROUTE || ip[at] == OPTION_STRICT_SOURCE_ROUTE)
			return L3FWD_DROP_SOURCE_ROUTE;
		at += ip[at + 1];
	}
	return FORWARDED;
}

static inline enum l3fwd_drop
check_ipv4(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l3_offset);
	const bool plain = (headers->flags & WEIR_HEADER_OPTIONS) == 0;
	uint8_t special = (octets[first_octet(headers->tuple.src_ip)] & NO_SOURCE) |
			  (octets[first_octet(headers->tuple.dst_ip)] & ~NO_SOURCE);

	if (unlikely((headers->flags & WEIR_HEADER_BAD_CHECKSUM) != 0))
		return L3FWD_DROP_BAD_CHECKSUM;
	if (unlikely(special != 0))
		return special == GROUP ? L3FWD_DROP_MULTICAST : L3FWD_DROP_MARTIAN;
	return likely(plain) ? FORWARDED : check_options(ip);
}

/* ::, ::1 (RFC 4291, 2.5.2 and 2.5.3) and fe80::/10 (2.5.6) are not forwarded. */
static inline bool
ipv6_stays(const uint8_t *address)
{
	static const uint8_t zero[15];

	if (likely(address[0] != 0))
		return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
	return memcmp(address, zero, sizeof(zero)) == 0 && address[15] <= 1;
}

static inline enum l3fwd_drop
check_ipv6(const struct rte_ipv6_hdr *ip)
{
	if (ipv6_stays(ip->src_addr) || ip->src_addr[0] == 0xff || ipv6_stays(ip->dst_addr))
		return L3FWD_DROP_MARTIAN;
	return ip->dst_addr[0] == 0xff ? L3FWD_DROP_MULTICAST : FORWARDED;
}

/* Drops that follow from the addresses alone may be remembered. */
static void
drop(struct weir_action *action, enum l3fwd_drop reason)
{
	action->verdict = WEIR_DROP;
	action->drop_reason = reason;
	action->once = reason != L3FWD_DROP_MARTIAN && reason != L3FWD_DROP_MULTICAST &&
		       reason != L3FWD_DROP_NO_ROUTE;
}

/* What remains to be looked up of one family. */
struct asked {
	uint8_t count;
	uint8_t place[WEIR_BURST]; /* in the batch */
	union {
		uint32_t ipv4[WEIR_BURST]; /* host byte order */
		const uint8_t *ipv6[WEIR_BURST];
	} address;
};

/* Checks each packet; what can be forwarded is to be looked up. */
static inline void
sort(const struct weir_batch *batch, struct weir_action *actions, struct asked *asked)
{
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct rte_mbuf *packet = batch->packet[i];
		const struct weir_headers *headers = &batch->headers[i];
		const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
		enum l3fwd_drop reason = FORWARDED;
		struct asked *family = &asked[L3FWD_IPV4];

		if (unlikely(headers->network == WEIR_NETWORK_OTHER)) {
			drop(&actions[i], L3FWD_DROP_NOT_IP);
			continue;
		}
		if (unlikely(headers->network == WEIR_NETWORK_MALFORMED)) {
			drop(&actions[i], L3FWD_DROP_MALFORMED);
			continue;
		}
		if (unlikely((frame[0] & RTE_ETHER_GROUP_ADDR) != 0)) {
			drop(&actions[i], L3FWD_DROP_LINK_BROADCAST);
			continue;
		}
		if (likely(headers->network == WEIR_NETWORK_IPV4)) {
			reason = check_ipv4(packet, headers);
			family->address.ipv4[family->count] =
				rte_be_to_cpu_32(headers->tuple.dst_ip);
		} else {
			const struct rte_ipv6_hdr *ip =
				(const struct rte_ipv6_hdr *)(frame + headers->l3_offset);

			family = &asked[L3FWD_IPV6];
			reason = check_ipv6(ip);
			family->address.ipv6[family->count] = ip->dst_addr;
		}
		if (unlikely(reason != FORWARDED))
			drop(&actions[i], reason);
		else
			family->place[family->count++] = i;
	}
}

static inline void
forward(const struct l3fwd_routing *routing, const struct weir_dependents *dependents,
	const struct weir_batch *batch, const struct asked *asked, const weir_prefix_found *found,
	struct weir_action *actions)
{
	for (unsigned int i = 0; i < asked->count; i++) {
		uint8_t place = asked->place[i];
		struct weir_action *action = &actions[place];
		const struct l3fwd_next_hop *hop =
			&routing->next_hops[weir_prefix_next_hop(found[i])];

		if (unlikely(!hop->usable)) {
			drop(action, L3FWD_DROP_NO_ROUTE);
			continue;
		}
		if (unlikely(batch->headers[place].ttl <= 1)) {
			drop(action, L3FWD_DROP_TTL_EXPIRED);
			continue;
		}
		action->set = WEIR_SET_MAC;
		action->ttl_decrement = 1;
		action->egress = hop->egress;
		action->has_egress = true;
		memcpy(&action->dst_mac, hop->addresses[batch->direction],
		       sizeof(hop->addresses[0]));
		if (found[i] != 0)
			action->dependents =
				(struct weir_dependents *)&dependents[weir_prefix_route(found[i])];
	}
}

void
l3fwd_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	const struct l3fwd *l3fwd = state;
	const struct l3fwd_routing *routing = l3fwd->routing;
	struct asked asked[L3FWD_FAMILIES];
	weir_prefix_found found[WEIR_BURST];

	asked[L3FWD_IPV4].count = 0;
	asked[L3FWD_IPV6].count = 0;
	sort(batch, actions, asked);
	if (asked[L3FWD_IPV4].count > 0) {
		weir_prefix_lookup_ipv4(&routing->tables[L3FWD_IPV4],
					asked[L3FWD_IPV4].address.ipv4, found,
					asked[L3FWD_IPV4].count);
		forward(routing, routing->dependents[L3FWD_IPV4], batch, &asked[L3FWD_IPV4], found,
			actions);
	}
	if (asked[L3FWD_IPV6].count > 0) {
		weir_prefix_lookup_ipv6(&routing->tables[L3FWD_IPV6],
					asked[L3FWD_IPV6].address.ipv6, found,
					asked[L3FWD_IPV6].count);
		forward(routing, routing->dependents[L3FWD_IPV6], batch, &asked[L3FWD_IPV6], found,
			actions);
	}
}
