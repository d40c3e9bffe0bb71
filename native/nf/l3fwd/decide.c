/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets a router forwards (RFC 1812, RFC 4291), and where to. */
#include "station.h"

#include <string.h>

#include <rte_ip.h>

/* Source routes (RFC 791) of IPv4 options. */
#define OPTION_END 0
#define OPTION_NOTHING 1
#define OPTION_LOOSE_SOURCE_ROUTE 131
#define OPTION_STRICT_SOURCE_ROUTE 137

#define FORWARDED L3FWD_DROPS

/* What the first byte of an IPv4 address says of a packet from there, or to there; RFC 1812, 5.3.7
 * and 4.2.2.11. */
static const uint8_t martian_source[256] = {
	[0] = 1,	   /* "this network" */
	[127] = 1,	   /* loopback */
	[224 ... 239] = 1, /* multicast */
	[240 ... 255] = 1, /* class E, limited broadcast */
};
enum { TO_MARTIAN = 1, TO_GROUP = 2 };
static const uint8_t special_destination[256] = {
	[0] = TO_MARTIAN,
	[127] = TO_MARTIAN,
	[224 ... 239] = TO_GROUP,
	[240 ... 255] = TO_MARTIAN,
};

static inline uint8_t
first_octet(uint32_t address_be)
{
	uint8_t octet;

	memcpy(&octet, &address_be, 1);
	return octet;
}

/* A source route lets the sender choose the path: dropped, as RFC 7126 (4.3, 4.4)
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

/* An IPv4 packet that needs no further checks. */
static inline bool
is_plain(const struct weir_headers *headers)
{
	return headers->network == WEIR_NETWORK_IPV4 &&
	       (headers->flags &
		(WEIR_HEADER_GROUP | WEIR_HEADER_OPTIONS | WEIR_HEADER_BAD_CHECKSUM)) == 0 &&
	       (martian_source[first_octet(headers->tuple.src_ip)] |
		special_destination[first_octet(headers->tuple.dst_ip)]) == 0;
}

static enum l3fwd_drop
check_ipv4(const uint8_t *ip, const struct weir_headers *headers)
{
	if ((headers->flags & WEIR_HEADER_BAD_CHECKSUM) != 0)
		return L3FWD_DROP_BAD_CHECKSUM;
	if (martian_source[first_octet(headers->tuple.src_ip)] != 0)
		return L3FWD_DROP_MARTIAN;
	switch (special_destination[first_octet(headers->tuple.dst_ip)]) {
	case TO_MARTIAN:
		return L3FWD_DROP_MARTIAN;
	case TO_GROUP:
		return L3FWD_DROP_MULTICAST;
	default:
		return (headers->flags & WEIR_HEADER_OPTIONS) != 0 ? check_options(ip) : FORWARDED;
	}
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

static enum l3fwd_drop
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

/* What is to be looked up of one family. */
struct asked {
	unsigned int count;
	uint8_t place[WEIR_BURST]; /* in the batch */
};

struct asked_ipv6 {
	struct asked asked;
	const uint8_t *address[WEIR_BURST];
};

/* A packet that is not plain. True: IPv4 to be looked up. */
static __rte_noinline bool
check(const struct weir_batch *batch, uint16_t index, struct weir_action *action,
      struct asked_ipv6 *ipv6)
{
	const struct weir_headers *headers = &batch->headers[index];
	const uint8_t *ip =
		rte_pktmbuf_mtod_offset(batch->packet[index], const uint8_t *, headers->l3_offset);
	enum l3fwd_drop reason = FORWARDED;

	if (headers->network == WEIR_NETWORK_OTHER)
		reason = L3FWD_DROP_NOT_IP;
	else if (headers->network == WEIR_NETWORK_MALFORMED)
		reason = L3FWD_DROP_MALFORMED;
	else if ((headers->flags & WEIR_HEADER_GROUP) != 0)
		reason = L3FWD_DROP_LINK_BROADCAST;
	else if (headers->network == WEIR_NETWORK_IPV4)
		reason = check_ipv4(ip, headers);
	else
		reason = check_ipv6((const struct rte_ipv6_hdr *)ip);
	if (reason != FORWARDED) {
		drop(action, reason);
		return false;
	}
	if (headers->network == WEIR_NETWORK_IPV4)
		return true;
	ipv6->address[ipv6->asked.count] = ((const struct rte_ipv6_hdr *)ip)->dst_addr;
	ipv6->asked.place[ipv6->asked.count++] = index;
	return false;
}

static inline void
decide(const struct l3fwd *l3fwd, enum l3fwd_family family, const struct weir_batch *batch,
       const struct asked *asked, const weir_prefix_found *found, struct weir_action *actions)
{
	const struct l3fwd_routing *routing = l3fwd->routing;
	struct weir_invalidation_list *invalidation = routing->invalidation[family];

	for (unsigned int i = 0; i < asked->count; i++) {
		uint8_t place = asked->place[i];
		struct weir_action *action = &actions[place];
		const struct l3fwd_next_hop *hop =
			&routing->next_hops[weir_prefix_next_hop(found[i])];

		if (unlikely(!hop->usable)) {
			drop(action, L3FWD_DROP_NO_ROUTE);
			continue;
		}
		/* What is for the router itself is not forwarded: its TTL does not matter. */
		if (unlikely(batch->headers[place].ttl <= 1 && hop->kind != L3FWD_HOP_OWN)) {
			drop(action, L3FWD_DROP_TTL_EXPIRED);
			continue;
		}
		if (unlikely(hop->kind != L3FWD_HOP_FIXED)) {
			l3fwd_station_resolve(l3fwd, batch, place, weir_prefix_next_hop(found[i]),
					      action);
			continue;
		}
		action->set = WEIR_SET_MAC;
		action->ttl_decrement = 1;
		action->egress = hop->egress;
		action->has_egress = true;
		memcpy(&action->dst_mac, hop->addresses[batch->direction],
		       sizeof(hop->addresses[0]));
		if (found[i] != 0)
			action->invalidation = &invalidation[weir_prefix_route(found[i])];
	}
}

void
l3fwd_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	const struct l3fwd *l3fwd = state;
	const struct l3fwd_routing *routing = l3fwd->routing;
	const struct weir_prefix_table *table = &routing->tables[L3FWD_IPV4];
	struct asked asked;
	struct asked_ipv6 ipv6;
	uint32_t addresses[WEIR_BURST]; /* host byte order */
	weir_prefix_found found[WEIR_BURST];
	unsigned int count = 0;

	ipv6.asked.count = 0;
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];

		addresses[count] = rte_be_to_cpu_32(headers->tuple.dst_ip);
		asked.place[count] = i;
		weir_prefix_prefetch_ipv4(table, addresses[count]);
		if (likely(is_plain(headers)) || check(batch, i, &actions[i], &ipv6))
			count++;
	}
	asked.count = count;
	weir_prefix_lookup_ipv4(table, addresses, found, count);
	decide(l3fwd, L3FWD_IPV4, batch, &asked, found, actions);
	if (ipv6.asked.count > 0) {
		weir_prefix_lookup_ipv6(&routing->tables[L3FWD_IPV6], ipv6.address, found,
					ipv6.asked.count);
		decide(l3fwd, L3FWD_IPV6, batch, &ipv6.asked, found, actions);
	}
	if (unlikely(l3fwd->station != NULL))
		l3fwd_station_review(l3fwd, batch, actions);
}

/* Only that of packets without a route, number 0, may be none. */
static inline bool
lead_somewhere(const struct l3fwd_routing *routing, const weir_prefix_found *found,
	       unsigned int count)
{
	bool nowhere = false;

	if (routing->next_hops[0].usable)
		return true;
	for (unsigned int i = 0; i < count; i++)
		nowhere |= weir_prefix_next_hop(found[i]) == 0;
	return !nowhere;
}

/* What l3fwd_decide() decides for plain packets that have a route, done. */
bool
l3fwd_forward(void *state, struct weir_batch *batch)
{
	const struct l3fwd *l3fwd = state;
	const struct l3fwd_routing *routing = l3fwd->routing;
	const struct weir_prefix_table *table = &routing->tables[L3FWD_IPV4];
	const enum weir_direction direction = batch->direction;
	const uint16_t count = batch->count;
	uint32_t addresses[WEIR_BURST]; /* host byte order */
	weir_prefix_found found[WEIR_BURST];

	if (unlikely(l3fwd->station != NULL))
		return false;
	for (uint16_t i = 0; i < count; i++) {
		const struct weir_headers *headers = &batch->headers[i];

		if (unlikely(!is_plain(headers) || headers->ttl <= 1))
			return false;
		addresses[i] = rte_be_to_cpu_32(headers->tuple.dst_ip);
		weir_prefix_prefetch_ipv4(table, addresses[i]);
	}
	weir_prefix_lookup_ipv4(table, addresses, found, count);
	if (unlikely(!lead_somewhere(routing, found, count)))
		return false;
	for (uint16_t i = 0; i < count; i++) {
		const struct l3fwd_next_hop *hop =
			&routing->next_hops[weir_prefix_next_hop(found[i])];
		uint8_t *frame = rte_pktmbuf_mtod(batch->packet[i], uint8_t *);

		batch->egress[i] = hop->egress;
		weir_ttl_decrement(frame, &batch->headers[i], 1);
		memcpy(frame, hop->addresses[direction], sizeof(hop->addresses[0]));
	}
	return true;
}
