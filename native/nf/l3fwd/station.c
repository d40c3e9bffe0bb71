/* SPDX-License-Identifier: Apache-2.0 */
/* What a station takes of what comes, and what it answers. */
#include "station.h"

#include <assert.h>
#include <string.h>

#include "engine/made_packet.h"
#include "engine/stage.h"

bool
l3fwd_station_has_room(const struct l3fwd_station *station, enum weir_direction direction)
{
	/* Each packet that waits for a neighbour needs a place when that is over; one more is for
	 * the solicitation that goes out before a packet begins to wait. */
	return station->outgoing[direction].count + weir_neighbours_held(station->neighbours) + 1 <
	       L3FWD_OUTGOING_MAX;
}

static void
enqueue(struct l3fwd_station *station, enum weir_direction direction,
	const struct l3fwd_outgoing *outgoing)
{
	struct l3fwd_outgoing_queue *queue = &station->outgoing[direction];

	assert(queue->count < L3FWD_OUTGOING_MAX);
	queue->slot[(queue->first + queue->count++) % L3FWD_OUTGOING_MAX] = *outgoing;
}

void
l3fwd_station_send(struct l3fwd_station *station, enum weir_direction link, struct rte_mbuf *packet,
		   enum weir_released released)
{
	if (!l3fwd_station_has_room(station, link)) {
		weir_count(&station->answers_lost, 1);
		rte_pktmbuf_free(packet);
		return;
	}
	enqueue(station, link,
		&(struct l3fwd_outgoing){.packet = packet,
					 .kind = L3FWD_ORIGINATED,
					 .released = (uint8_t)released,
					 .egress = station->links[link].egress});
}

void
l3fwd_solicit(void *state, const struct weir_neighbour *neighbour, bool alone)
{
	struct l3fwd_station *station = state;
	const struct l3fwd_link *link = &station->links[neighbour->key.link];
	const struct weir_ip_address *source = l3fwd_link_speaks(link, &neighbour->key.address);
	struct rte_mbuf *packet = source != NULL ? weir_made_packet(neighbour->pool) : NULL;

	if (packet == NULL)
		return; /* the next one, in a second, may have a buffer */
	if (weir_neighbour_solicit(packet, &neighbour->key.address, source, &link->mac,
				   alone ? &neighbour->mac : NULL))
		l3fwd_station_send(station, neighbour->key.link, packet, WEIR_RELEASED_OUT);
	else
		rte_pktmbuf_free(packet);
}

void
l3fwd_resolved(void *state, const struct weir_neighbour *neighbour,
	       const struct weir_neighbour_held *held)
{
	struct l3fwd_station *station = state;
	const struct l3fwd_link *link = &station->links[neighbour->key.link];
	uint8_t *frame = rte_pktmbuf_mtod(held->packet, uint8_t *);
	struct weir_headers headers;

	weir_headers_parse(held->packet, &headers);
	weir_ttl_decrement(frame, &headers, 1);
	memcpy(frame, &neighbour->mac, RTE_ETHER_ADDR_LEN);
	memcpy(frame + RTE_ETHER_ADDR_LEN, &link->mac, RTE_ETHER_ADDR_LEN);
	enqueue(station, held->direction,
		&(struct l3fwd_outgoing){.packet = held->packet,
					 .kind = L3FWD_RESOLVED,
					 .released = WEIR_RELEASED_BEHIND,
					 .egress = link->egress});
}

void
l3fwd_refused(void *state, const struct weir_neighbour_held *held, enum weir_neighbour_refusal why)
{
	enqueue(state, held->direction,
		&(struct l3fwd_outgoing){.packet = held->packet,
					 .kind = why == WEIR_NEIGHBOUR_UNRESOLVED
							 ? L3FWD_UNRESOLVED
							 : L3FWD_DISPLACED});
}

/* A solicitation or an advertisement, which came by that link. The packet is freed or sent. */
static void
hear(struct l3fwd_station *station, enum weir_direction side, enum weir_neighbour_kind kind,
     const struct weir_neighbour_message *message, struct rte_mbuf *packet,
     const struct weir_batch *batch)
{
	const struct l3fwd_link *link = &station->links[side];
	const struct weir_neighbour_key key = {.address = message->sender, .link = (uint8_t)side};
	const bool ours = l3fwd_link_owns(link, &message->target);
	const bool asked = kind == WEIR_NEIGHBOUR_SOLICITATION &&
			   (ours || l3fwd_networks_have(&link->proxied, &message->target));
	/* Who says our own address, and who is not of this link, is not believed. */
	const bool known = !l3fwd_link_owns(link, &message->sender) &&
			   !rte_is_same_ether_addr(&message->mac, &link->mac) &&
			   l3fwd_networks_have(&link->own, &message->sender);
	const bool says_mac = !rte_is_zero_ether_addr(&message->mac);

	if (kind == WEIR_NEIGHBOUR_ADVERTISEMENT) {
		if (known && (ours || message->sender.ipv6))
			weir_neighbours_advertised(station->neighbours, &key, &message->mac,
						   message->solicited, message->override,
						   batch->now_tsc, batch->cache);
		else if (known)
			weir_neighbours_heard(station->neighbours, &key, &message->mac, true,
					      packet->pool, batch->now_tsc, batch->cache);
	} else if (known && says_mac && (asked || !message->sender.ipv6)) {
		weir_neighbours_heard(station->neighbours, &key, &message->mac, !asked,
				      packet->pool, batch->now_tsc, batch->cache);
	}
	if (asked && !l3fwd_link_owns(link, &message->sender) &&
	    (known || weir_ip_address_is_none(&message->sender)) &&
	    weir_neighbour_answer(packet, message, &link->mac))
		l3fwd_station_send(station, side, packet, WEIR_RELEASED_OUT);
	else
		rte_pktmbuf_free(packet);
}

/* Whether the packet is for the router alone; then it is gone, for the reason. */
static bool
listen_to(struct l3fwd_station *station, const struct weir_batch *batch, uint16_t index,
	  enum l3fwd_drop *reason)
{
	const struct weir_headers *headers = &batch->headers[index];
	const enum weir_direction side =
		batch->direction == WEIR_OUTBOUND ? WEIR_INBOUND : WEIR_OUTBOUND;
	struct rte_mbuf *packet = batch->packet[index];
	struct weir_neighbour_message message;
	struct weir_ip_address to;
	enum weir_neighbour_kind kind;

	if (likely(headers->network == WEIR_NETWORK_IPV4 &&
		   headers->tuple.protocol != IPPROTO_ICMP))
		return false;
	*reason = L3FWD_DROP_FOR_ROUTER;
	if (headers->network == WEIR_NETWORK_IPV4 || headers->network == WEIR_NETWORK_IPV6) {
		if (headers->tuple.protocol != IPPROTO_ICMP &&
		    headers->tuple.protocol != IPPROTO_ICMPV6)
			return false;
		to = l3fwd_address_at(packet, headers, false);
		if (l3fwd_station_owns(station, side, &to) &&
		    (headers->flags & WEIR_HEADER_GROUP) == 0 &&
		    weir_icmp_is_echo_request(packet, headers)) {
			l3fwd_station_echo(station, side, packet, headers);
			return true;
		}
		/* A neighbour asks one that it knows directly (RFC 4861, 7.3.3). */
		if (headers->network == WEIR_NETWORK_IPV4 ||
		    (to.bytes[0] != 0xff && !l3fwd_station_owns(station, side, &to) &&
		     !l3fwd_networks_have(&station->links[side].proxied, &to)))
			return false;
	}
	kind = weir_neighbour_message_parse(packet, headers, &message);
	switch (kind) {
	case WEIR_NEIGHBOUR_NONE:
		return false;
	case WEIR_NEIGHBOUR_SOLICITATION:
	case WEIR_NEIGHBOUR_ADVERTISEMENT:
		hear(station, side, kind, &message, packet, batch);
		return true;
	case WEIR_NEIGHBOUR_INVALID:
		*reason = L3FWD_DROP_MALFORMED;
		break;
	case WEIR_NEIGHBOUR_UNKNOWN:
		break;
	}
	rte_pktmbuf_free(packet);
	return true;
}

void
l3fwd_listen(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct l3fwd *l3fwd = state;
	const uint16_t count = batch->count;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		enum l3fwd_drop reason;

		if (unlikely(listen_to(l3fwd->station, batch, i, &reason))) {
			weir_count(&ledger->packets_in, 1);
			weir_count(&ledger->drops[reason], 1);
			continue;
		}
		if (kept != i)
			weir_batch_move(batch, kept, batch, i);
		kept++;
	}
	batch->count = kept;
}

/* The next of the queue, if it goes the way of those before it; false: none. */
static bool
release_one(struct l3fwd_station *station, struct weir_batch *batch,
	    struct weir_stage_ledger *ledger)
{
	struct l3fwd_outgoing_queue *queue = &station->outgoing[batch->direction];
	const struct l3fwd_outgoing next = queue->slot[queue->first];
	struct weir_headers headers;

	if (queue->count == 0)
		return false;
	if (next.kind == L3FWD_ORIGINATED || next.kind == L3FWD_RESOLVED) {
		if (batch->count > 0 && next.released != batch->released)
			return false;
		batch->released = next.released;
		batch->egress[batch->count] = next.egress;
		batch->packet[batch->count++] = next.packet;
	}
	queue->first = (queue->first + 1) % L3FWD_OUTGOING_MAX;
	queue->count--;
	switch ((enum l3fwd_outgoing_kind)next.kind) {
	case L3FWD_ORIGINATED:
		weir_count(&ledger->originated, 1);
		break;
	case L3FWD_RESOLVED:
		weir_count(&ledger->held, -(uint64_t)1);
		break;
	case L3FWD_UNRESOLVED:
		weir_count(&ledger->held, -(uint64_t)1);
		weir_count(&ledger->drops[L3FWD_DROP_NEIGHBOUR_UNRESOLVED], 1);
		weir_headers_parse(next.packet, &headers);
		l3fwd_station_complain(station, batch->direction, next.packet, &headers,
				       WEIR_ICMP_HOST_UNREACHABLE, 0, batch->now_tsc);
		break;
	case L3FWD_DISPLACED:
		weir_count(&ledger->held, -(uint64_t)1);
		weir_count(&ledger->drops[L3FWD_DROP_NEIGHBOUR_QUEUE_FULL], 1);
		rte_pktmbuf_free(next.packet);
		break;
	}
	return true;
}

void
l3fwd_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct l3fwd *l3fwd = state;

	while (batch->count < WEIR_BURST && release_one(l3fwd->station, batch, ledger))
		;
}
