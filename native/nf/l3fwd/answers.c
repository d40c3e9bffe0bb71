/* SPDX-License-Identifier: Apache-2.0 */
/* What a station says by ICMP, and to whom: errors and echo replies. */
#include "station.h"

#include <string.h>

#include "engine/stage.h"

struct weir_ip_address
l3fwd_address_at(const struct rte_mbuf *packet, const struct weir_headers *headers, bool source)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l3_offset);
	const bool ipv6 = headers->network == WEIR_NETWORK_IPV6;

	if (ipv6)
		return weir_ip_address(ip + (source ? 8 : 24), true);
	return weir_ip_address(ip + (source ? 12 : 16), false);
}

/* Whether the sender is the router itself, or all of a network of its own: who is told nothing
 * (RFC 1812, 4.3.2.7). */
static bool
leads_nowhere(const struct l3fwd *l3fwd, const struct weir_ip_address *sender)
{
	uint16_t number;

	return l3fwd_next_hop_to(l3fwd, sender, &number)->kind == L3FWD_HOP_OWN;
}

/* Where an error goes on: where functions translate before this one on both ways, through them,
 * unless the packet was one that they do not translate, from one inner network to another. */
static enum weir_released
way_of_error(const struct l3fwd *l3fwd, enum weir_direction direction,
	     const struct weir_ip_address *sender)
{
	const struct l3fwd_next_hop *hop;
	uint16_t number;

	if (!l3fwd->errors_pass_all)
		return WEIR_RELEASED_BEHIND;
	hop = l3fwd_next_hop_to(l3fwd, sender, &number);
	return direction == WEIR_OUTBOUND && hop->usable && hop->egress == l3fwd->inside_output
		       ? WEIR_RELEASED_BEHIND
		       : WEIR_RELEASED_TO_BEGINNING;
}

/* Which of its addresses an error comes from: the link's by which the packet came (RFC 1812,
 * 4.3.2.4); of IPv6 the one that the packet went to, if it did (RFC 4443, 2.2 a). NULL: none. */
static const struct weir_ip_address *
error_source(const struct l3fwd_station *station, enum weir_direction link,
	     const struct weir_ip_address *sender, const struct weir_ip_address *destination)
{
	const struct weir_ip_address *own;

	if (destination->ipv6 && l3fwd_station_owns(station, link, destination))
		return destination;
	own = l3fwd_link_speaks(&station->links[link], sender);
	return own != NULL ? own : l3fwd_link_speaks(&station->links[1 - link], sender);
}

void
l3fwd_station_complain(struct l3fwd_station *station, enum weir_direction direction,
		       struct rte_mbuf *packet, const struct weir_headers *headers,
		       enum weir_icmp_cause cause, uint64_t detail, uint64_t now_tsc)
{
	const enum weir_direction back = direction == WEIR_OUTBOUND ? WEIR_INBOUND : WEIR_OUTBOUND;
	const struct l3fwd_link *link = &station->links[back];
	const struct weir_ip_address sender = l3fwd_address_at(packet, headers, true);
	const struct weir_ip_address destination = l3fwd_address_at(packet, headers, false);
	const struct weir_ip_address *own = error_source(station, back, &sender, &destination);
	const enum weir_released way = way_of_error(station->l3fwd, direction, &sender);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct rte_ether_addr to;

	memcpy(&to, frame + RTE_ETHER_ADDR_LEN, sizeof(to));
	/* Whose address was translated is known on the way back only, on which this drops it. */
	if ((way == WEIR_RELEASED_BEHIND && leads_nowhere(station->l3fwd, &sender)) ||
	    own == NULL || !l3fwd_is_station(&to) || !weir_icmp_packet_is_plain(packet) ||
	    !weir_icmp_error_may_be_sent(packet, headers)) {
		rte_pktmbuf_free(packet);
		return;
	}
	if (!weir_error_rate_admits(&station->errors, station->l3fwd->icmp_errors_pps, now_tsc) ||
	    !weir_icmp_error_make(packet, headers, cause, (uint32_t)detail, own)) {
		weir_count(&station->errors_suppressed, 1);
		rte_pktmbuf_free(packet);
		return;
	}
	frame = rte_pktmbuf_mtod(packet, uint8_t *);
	memcpy(frame, &to, sizeof(to));
	memcpy(frame + RTE_ETHER_ADDR_LEN, &link->mac, sizeof(link->mac));
	weir_count(&station->errors_sent, 1);
	l3fwd_station_send(station, back, packet, way);
}

void
l3fwd_station_echo(struct l3fwd_station *station, enum weir_direction link, struct rte_mbuf *packet,
		   const struct weir_headers *headers)
{
	const struct weir_ip_address sender = l3fwd_address_at(packet, headers, true);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct rte_ether_addr to;

	memcpy(&to, frame + RTE_ETHER_ADDR_LEN, sizeof(to));
	if (leads_nowhere(station->l3fwd, &sender) || !l3fwd_is_station(&to) ||
	    !weir_icmp_packet_is_plain(packet)) {
		rte_pktmbuf_free(packet);
		return;
	}
	weir_icmp_echo_reply(packet, headers);
	frame = rte_pktmbuf_mtod(packet, uint8_t *);
	memcpy(frame, &to, sizeof(to));
	memcpy(frame + RTE_ETHER_ADDR_LEN, &station->links[link].mac, sizeof(to));
	l3fwd_station_send(station, link, packet, WEIR_RELEASED_OUT);
}
