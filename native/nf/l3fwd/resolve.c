/* SPDX-License-Identifier: Apache-2.0 */
/* What a station decides beyond a mere forwarder, and what it does with packets that it takes. */
#include "station.h"

#include <string.h>

#include <rte_ip.h>

#include "packet/ipv6_extensions.h"

#define DONT_FRAGMENT 0x4000

/* As it is now: what functions before this one rewrote is in `headers` already. */
static struct weir_ip_address
destination_of(const struct weir_batch *batch, uint16_t index)
{
	const struct weir_headers *headers = &batch->headers[index];

	if (headers->network == WEIR_NETWORK_IPV4)
		return weir_ip_address(&headers->tuple.dst_ip, false);
	return weir_ip_address(rte_pktmbuf_mtod_offset(batch->packet[index],
						       const struct rte_ipv6_hdr *,
						       headers->l3_offset)
				       ->dst_addr,
			       true);
}

static enum weir_direction
link_by(const struct l3fwd *l3fwd, uint8_t egress)
{
	return egress == l3fwd->inside_output ? WEIR_INBOUND : WEIR_OUTBOUND;
}

static struct weir_neighbour_key
key_of(const struct l3fwd *l3fwd, const struct weir_batch *batch, uint16_t index, uint16_t number)
{
	const struct l3fwd_next_hop *hop = &l3fwd->routing->next_hops[number];

	return (struct weir_neighbour_key){
		.address = hop->kind == L3FWD_HOP_GATEWAY
				   ? l3fwd_target_of(l3fwd->routing, number)->gateway
				   : destination_of(batch, index),
		.link = (uint8_t)link_by(l3fwd, hop->egress),
	};
}

static void
take(struct weir_action *action, enum l3fwd_drop why)
{
	action->verdict = WEIR_TAKE;
	action->drop_reason = (uint8_t)why;
	action->once = true;
}

void
l3fwd_station_resolve(const struct l3fwd *l3fwd, const struct weir_batch *batch, uint16_t index,
		      uint16_t number, struct weir_action *action)
{
	const struct l3fwd_next_hop *hop = &l3fwd->routing->next_hops[number];
	const struct l3fwd_link *link = &l3fwd->station->links[link_by(l3fwd, hop->egress)];
	struct weir_neighbour_key key;
	struct weir_neighbour *neighbour;

	if (hop->kind == L3FWD_HOP_OWN) {
		take(action, L3FWD_DROP_FOR_ROUTER);
		return;
	}
	/* Whatever becomes of it now, review() asks for its length: by the egress. */
	action->egress = hop->egress;
	action->has_egress = true;
	key = key_of(l3fwd, batch, index, number);
	neighbour = weir_neighbours_find(l3fwd->station->neighbours, &key);
	if (neighbour == NULL || !weir_neighbour_has_mac(neighbour)) {
		take(action, L3FWD_DROP_NEIGHBOUR_UNRESOLVED);
		return;
	}
	action->set = WEIR_SET_MAC;
	action->ttl_decrement = 1;
	action->dst_mac = neighbour->mac;
	action->src_mac = link->mac;
	action->counters[0] = &neighbour->sent;
	action->invalidation = &neighbour->invalidation;
}

/* What stands behind the packet in its frame is no part of it, but for the padding of a short one:
 * it stays here where the frame would be longer than the link takes. */
static void
fit(struct rte_mbuf *packet, const struct weir_headers *headers, uint64_t mtu_bytes)
{
	const uint32_t frame_bytes = RTE_MAX(headers->l3_offset + headers->l3_bytes,
					     RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN);

	if (unlikely(packet->pkt_len > headers->l3_offset + mtu_bytes &&
		     packet->pkt_len > frame_bytes && packet->nb_segs == 1))
		rte_pktmbuf_trim(packet, (uint16_t)(packet->pkt_len - frame_bytes));
}

void
l3fwd_station_review(const struct l3fwd *l3fwd, const struct weir_batch *batch,
		     struct weir_action *actions)
{
	for (uint16_t i = 0; i < batch->count; i++) {
		struct weir_action *action = &actions[i];
		const struct l3fwd_link *link;

		if (action->verdict == WEIR_DROP) {
			if (action->drop_reason == L3FWD_DROP_NO_ROUTE ||
			    action->drop_reason == L3FWD_DROP_TTL_EXPIRED)
				take(action, (enum l3fwd_drop)action->drop_reason);
			continue;
		}
		if (!action->has_egress)
			continue;
		link = &l3fwd->station->links[link_by(l3fwd, action->egress)];
		if (link->mtu_bytes == 0)
			continue;
		action->once = true; /* packets of one flow are not of one length */
		if (batch->headers[i].l3_bytes > link->mtu_bytes)
			take(action, L3FWD_DROP_TOO_BIG);
		else
			fit(batch->packet[i], &batch->headers[i], link->mtu_bytes);
	}
}

/* Whether an IPv6 packet to the router itself has an extension header that ends its way here; its
 * sender is told where that is due. */
static bool
refuse_extensions(struct l3fwd_station *station, const struct weir_batch *batch, uint16_t index)
{
	static const enum weir_icmp_cause causes[] = {
		[WEIR_IPV6_EXTENSIONS_ROUTE_UNKNOWN] = WEIR_ICMP_ROUTE_UNKNOWN,
		[WEIR_IPV6_EXTENSIONS_OPTION_UNKNOWN] = WEIR_ICMP_OPTION_UNKNOWN,
	};
	const struct weir_headers *headers = &batch->headers[index];
	struct rte_mbuf *packet = batch->packet[index];
	enum weir_ipv6_extensions found;
	uint32_t pointer;

	if (headers->network != WEIR_NETWORK_IPV6)
		return false;
	found = weir_ipv6_extensions_read(
		rte_pktmbuf_mtod_offset(packet, const void *, headers->l3_offset), headers,
		&pointer);
	if (found == WEIR_IPV6_EXTENSIONS_KNOWN)
		return false;
	if (found == WEIR_IPV6_EXTENSIONS_DISCARD)
		rte_pktmbuf_free(packet);
	else
		l3fwd_station_complain(station, batch->direction, packet, headers, causes[found],
				       pointer, batch->now_tsc);
	return true;
}

/* A packet to the router itself that no part of it wants: who sent it by UDP may be told. */
static void
receive(struct l3fwd_station *station, const struct weir_batch *batch, uint16_t index)
{
	const struct weir_headers *headers = &batch->headers[index];
	struct rte_mbuf *packet = batch->packet[index];
	const struct weir_ip_address to = destination_of(batch, index);
	const struct l3fwd_link *link = l3fwd_link_of(station, &to);

	if (link == NULL || !l3fwd_link_owns(link, &to)) /* a broadcast of that network */
		rte_pktmbuf_free(packet);
	else if (refuse_extensions(station, batch, index))
		return;
	else if (weir_icmp_is_echo_request(packet, headers))
		l3fwd_station_echo(station,
				   batch->direction == WEIR_OUTBOUND ? WEIR_INBOUND : WEIR_OUTBOUND,
				   packet, headers);
	else if (headers->tuple.protocol == IPPROTO_UDP &&
		 (headers->flags & WEIR_HEADER_FRAGMENT) == 0)
		l3fwd_station_complain(station, batch->direction, packet, headers,
				       WEIR_ICMP_PORT_UNREACHABLE, 0, batch->now_tsc);
	else
		rte_pktmbuf_free(packet);
}

/* IPv4 that may be fragmented is not told: it asked for no error (RFC 791), and this cuts none. */
static void
refuse_too_big(struct l3fwd_station *station, const struct weir_batch *batch, uint16_t index,
	       uint8_t egress)
{
	const struct weir_headers *headers = &batch->headers[index];
	struct rte_mbuf *packet = batch->packet[index];
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, const struct rte_ipv4_hdr *, headers->l3_offset);
	const enum weir_direction link = link_by(station->l3fwd, egress);

	if (headers->network == WEIR_NETWORK_IPV4 &&
	    (ip->fragment_offset & rte_cpu_to_be_16(DONT_FRAGMENT)) == 0)
		rte_pktmbuf_free(packet);
	else
		l3fwd_station_complain(station, batch->direction, packet, headers,
				       WEIR_ICMP_TOO_BIG, station->links[link].mtu_bytes,
				       batch->now_tsc);
}

/* Why the packet cannot wait, or -1: it does. */
static int
hold(struct l3fwd_station *station, const struct weir_batch *batch, uint16_t index)
{
	const struct weir_ip_address to = destination_of(batch, index);
	const struct weir_neighbour_held held = {.packet = batch->packet[index],
						 .direction = batch->direction};
	struct weir_neighbour_key key;
	uint16_t number;

	if (!l3fwd_station_has_room(station, batch->direction))
		return L3FWD_DROP_NEIGHBOUR_QUEUE_FULL;
	(void)l3fwd_next_hop_to(station->l3fwd, &to, &number);
	key = key_of(station->l3fwd, batch, index, number);
	switch (weir_neighbours_hold(station->neighbours, &key, &held, batch->now_tsc,
				     batch->cache)) {
	case WEIR_NEIGHBOURS_FULL:
		return L3FWD_DROP_NEIGHBOUR_TABLE_FULL;
	case WEIR_NEIGHBOURS_HELD_FULL:
		return L3FWD_DROP_NEIGHBOUR_QUEUE_FULL;
	case WEIR_NEIGHBOURS_HOLDS:
		break;
	}
	return -1;
}

void
l3fwd_take(void *state, const struct weir_batch *batch, uint16_t index,
	   const struct weir_action *action, struct weir_stage_ledger *ledger)
{
	const struct l3fwd *l3fwd = state;
	struct l3fwd_station *station = l3fwd->station;
	struct rte_mbuf *packet = batch->packet[index];
	const struct weir_headers *headers = &batch->headers[index];
	int refused;

	if (action->drop_reason == L3FWD_DROP_NEIGHBOUR_UNRESOLVED) {
		refused = hold(station, batch, index);
		if (refused < 0) {
			weir_count(&ledger->held, 1);
		} else {
			weir_count(&ledger->drops[refused], 1);
			rte_pktmbuf_free(packet);
		}
		return;
	}
	weir_count(&ledger->drops[action->drop_reason], 1);
	switch ((enum l3fwd_drop)action->drop_reason) {
	case L3FWD_DROP_NO_ROUTE:
		l3fwd_station_complain(station, batch->direction, packet, headers,
				       WEIR_ICMP_NO_ROUTE, 0, batch->now_tsc);
		break;
	case L3FWD_DROP_TTL_EXPIRED:
		l3fwd_station_complain(station, batch->direction, packet, headers,
				       WEIR_ICMP_TIME_EXCEEDED, 0, batch->now_tsc);
		break;
	case L3FWD_DROP_TOO_BIG:
		refuse_too_big(station, batch, index, action->egress);
		break;
	default:
		receive(station, batch, index);
		break;
	}
}
