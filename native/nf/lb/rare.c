/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that are not a whole TCP or UDP packet of a service: later fragments, ICMP errors, other
 * traffic. */
#include <netinet/in.h>

#include "packet/icmp_error.h"
#include "toolkit/option_rows.h"
#include "lb.h"

/* What is remembered of a first fragment: an address, or this and why it was dropped. */
#define DROPPED (1UL << 32)

void
lb_decide_other(const struct lb *lb, struct weir_action *action)
{
	if (lb->other == LB_OTHER_DROP)
		weir_action_drop_once(action, LB_DROP_NOT_FOR_SERVICE);
}

void
lb_remember_fragment(struct lb *lb, const struct weir_batch *batch, uint16_t index,
		     struct weir_action *action)
{
	bool outbound = batch->direction == WEIR_OUTBOUND;
	uint64_t decision = DROPPED | action->drop_reason;

	action->once = true;
	if (action->verdict == WEIR_FORWARD)
		decision = outbound ? action->dst_ip : action->src_ip;
	weir_fragments_remember(lb->fragments, batch->packet[index], &batch->headers[index],
				batch->now_tsc, decision);
}

/* A packet without ports, to an address whose services differ by their ports only. */
static void
decide_portless(struct lb *lb, const struct weir_batch *batch, uint16_t index,
		struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	bool outbound = batch->direction == WEIR_OUTBOUND;
	uint32_t ip = outbound ? headers->tuple.dst_ip : headers->tuple.src_ip;
	bool is_later = (headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0;
	uint64_t decision;

	action->once = true;
	if (is_later && weir_fragments_recall(lb->fragments, batch->packet[index], headers,
					      batch->now_tsc, &decision)) {
		if (decision >= DROPPED) {
			weir_action_drop_once(action, (uint8_t)(decision - DROPPED));
			return;
		}
		action->set = outbound ? WEIR_SET_DST_IP : WEIR_SET_SRC_IP;
		action->src_ip = (uint32_t)decision;
		action->dst_ip = (uint32_t)decision;
		return;
	}
	if (!lb_set_has_address(lb->set, ip, headers->tuple.protocol,
				outbound ? LB_VIP : LB_BACKEND)) {
		lb_decide_other(lb, action);
		return;
	}
	if (is_later) {
		weir_fragment_hold(action, LB_DROP_FRAGMENTS_FULL);
		return;
	}
	weir_action_drop_once(action, LB_DROP_MALFORMED);
	if ((headers->flags & WEIR_HEADER_FRAGMENT) != 0)
		lb_remember_fragment(lb, batch, index, action);
}

/* An error about a packet that a service sent: it goes to the back-end that did, with that one's
 * address inside. */
static void
decide_error_to_service(struct lb *lb, const struct weir_batch *batch, uint16_t index,
			const struct weir_icmp_error *error, struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	uint16_t service = lb_set_find(lb->set, lb_source_of(&error->tuple, LB_VIP));
	struct weir_tuple key, inside = error->tuple;
	const struct lb_connection *connection;
	uint16_t backend;

	if (service == LB_NONE || headers->tuple.dst_ip != error->tuple.src_ip) {
		lb_decide_other(lb, action);
		return;
	}
	key = lb_key_of_reply(&error->tuple, &lb->set->services[service].at);
	connection = lb_connection_find(lb, &key);
	if (connection != NULL && lb_has_backend(lb, connection))
		backend = connection->backend;
	else
		backend = lb_set_choose(lb->set, service, &key);
	if (backend == LB_NONE) {
		weir_action_drop_once(action, LB_DROP_NO_BACKEND);
		return;
	}
	inside.src_ip = lb->set->backends[backend].at.ip;
	inside.src_port = lb->set->backends[backend].at.port;
	weir_icmp_error_rewrite(batch->packet[index], headers, error, &inside);
	action->set = WEIR_SET_DST_IP;
	action->dst_ip = inside.src_ip;
}

/* An error about a packet that a client sent: from a back-end or a router before it. */
static void
decide_error_to_client(const struct lb *lb, const struct weir_batch *batch, uint16_t index,
		       const struct weir_icmp_error *error, struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	uint16_t backend = lb_set_find(lb->set, lb_destination_of(&error->tuple, LB_BACKEND));
	struct weir_tuple inside = error->tuple;
	const struct lb_endpoint *vip;

	if (backend == LB_NONE || headers->tuple.dst_ip != error->tuple.src_ip) {
		lb_decide_other(lb, action);
		return;
	}
	vip = &lb->set->services[lb->set->backends[backend].service].at;
	inside.dst_ip = vip->ip;
	inside.dst_port = vip->port;
	weir_icmp_error_rewrite(batch->packet[index], headers, error, &inside);
	if (headers->tuple.src_ip == lb->set->backends[backend].at.ip) {
		action->set = WEIR_SET_SRC_IP;
		action->src_ip = vip->ip;
	}
}

void
lb_decide_rare(struct lb *lb, const struct weir_batch *batch, uint16_t index,
	       struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	struct weir_icmp_error error;

	switch (headers->network) {
	case WEIR_NETWORK_MALFORMED:
		weir_action_drop_once(action, LB_DROP_MALFORMED);
		return;
	case WEIR_NETWORK_IPV4:
		break;
	case WEIR_NETWORK_IPV6:
		if (lb->ipv6 == WEIR_UNKNOWN_IPV6_DROP)
			weir_action_drop_once(action, LB_DROP_IPV6);
		return;
	default: /* ARP and the like: no traffic of services, and needed by it */
		return;
	}
	if (headers->tuple.protocol == IPPROTO_TCP || headers->tuple.protocol == IPPROTO_UDP) {
		decide_portless(lb, batch, index, action);
		return;
	}
	if (!weir_icmp_error_parse(batch->packet[index], headers, &error)) {
		lb_decide_other(lb, action);
		return;
	}
	action->once = true;
	if (batch->direction == WEIR_OUTBOUND)
		decide_error_to_service(lb, batch, index, &error, action);
	else
		decide_error_to_client(lb, batch, index, &error, action);
}
