/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of services: which connection, which back-end, what to rewrite. */
#include <netinet/in.h>
#include <rte_tcp.h>

#include "lb.h"

static void
note_tcp(struct lb_connection *connection, uint8_t tcp_flags, bool outbound)
{
	if ((tcp_flags & RTE_TCP_FIN_FLAG) != 0)
		connection->flags |= outbound ? LB_FIN_OUTBOUND : LB_FIN_INBOUND;
	if ((tcp_flags & RTE_TCP_RST_FLAG) != 0)
		connection->flags |= LB_RESET;
	if (outbound && (tcp_flags & RTE_TCP_SYN_FLAG) == 0)
		connection->flags |= LB_CLIENT_SPOKE;
}

static void
give_backend(struct lb *lb, struct lb_connection *connection, uint16_t backend)
{
	connection->backend = backend;
	connection->generation = lb->set->backends[backend].generation;
	connection->flags = 0;
}

/* A connection that begins, or whose back-end was removed. NULL: forward by `*backend` alone, or,
 * if that is LB_NONE, drop as `action` says. */
static struct lb_connection *
begin(struct lb *lb, const struct weir_batch *batch, const struct weir_tuple *key, uint16_t service,
      struct lb_connection *connection, uint16_t *backend, struct weir_action *action)
{
	*backend = lb_set_choose(lb->set, service, key);
	if (*backend == LB_NONE) {
		weir_action_drop_once(action, LB_DROP_NO_BACKEND);
		return NULL;
	}
	if (connection != NULL)
		weir_flow_cache_forget(batch->cache, &connection->invalidation);
	else
		connection = lb_connection_create(lb, key, batch->now_tsc);
	if (connection != NULL) {
		give_backend(lb, connection, *backend);
	} else if (lb->when_full == LB_FULL_DROP) {
		weir_action_drop_once(action, LB_DROP_TABLE_FULL);
		*backend = LB_NONE;
	}
	return connection;
}

static inline void
decide_to_service(struct lb *lb, const struct weir_batch *batch, const struct weir_headers *headers,
		  uint16_t service, struct lb_connection *connection, struct weir_action *action)
{
	bool opens =
		(headers->tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG)) == RTE_TCP_SYN_FLAG;
	uint16_t backend;

	if (likely(connection != NULL && lb_has_backend(lb, connection) &&
		   !(unlikely(opens) && lb_is_closed(connection)))) {
		backend = connection->backend;
	} else {
		connection =
			begin(lb, batch, &headers->tuple, service, connection, &backend, action);
		if (backend == LB_NONE)
			return;
	}
	lb_set_destination(action, &lb->set->backends[backend].at);
	action->counters[1] = &lb->sent[backend];
	if (connection == NULL) {
		action->once = true;
		return;
	}
	action->once = (headers->tcp_flags & WEIR_TCP_EVENTS) != 0;
	if (headers->tuple.protocol == IPPROTO_TCP)
		note_tcp(connection, headers->tcp_flags, true);
	action->counters[0] = &connection->counter;
	action->invalidation = &connection->invalidation;
}

/* What a back-end sends comes from its service, even if no connection is known: it is forwarded by
 * the hash alone, or idle for too long. */
static inline void
decide_from_backend(struct lb *lb, const struct weir_headers *headers, uint16_t backend,
		    struct lb_connection *connection, struct weir_action *action)
{
	uint16_t service = lb->set->backends[backend].service;
	bool known = connection != NULL && lb_has_backend(lb, connection);

	if (unlikely(known && connection->backend != backend)) {
		weir_action_drop_once(action, LB_DROP_OTHER_BACKEND);
		return;
	}
	lb_set_source(action, &lb->set->services[service].at);
	action->counters[1] = &lb->sent[backend];
	if (unlikely(!known)) {
		action->once = true;
		return;
	}
	if ((headers->tcp_flags & WEIR_TCP_EVENTS) != 0) {
		note_tcp(connection, headers->tcp_flags, false);
		action->once = true;
	}
	action->counters[0] = &connection->counter;
	action->invalidation = &connection->invalidation;
}

static inline bool
has_ports(const struct weir_headers *headers)
{
	return headers->network == WEIR_NETWORK_IPV4 && headers->l4_offset != 0 &&
	       headers->tuple.protocol != IPPROTO_ICMP;
}

/* Packets of connections: their keys, all looked up together. */
struct look_up {
	unsigned int count;
	uint16_t number[WEIR_BURST]; /* packet → its service or back-end, or LB_NONE */
	const void *keys[WEIR_BURST];
	uint32_t found[WEIR_BURST];
	struct weir_tuple replies[WEIR_BURST];
};

static inline void
look_up(const struct lb *lb, const struct weir_batch *batch, struct look_up *look_up)
{
	const struct lb_set *set = lb->set;
	const bool outbound = batch->direction == WEIR_OUTBOUND;
	unsigned int count = 0;

	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		uint16_t number = LB_NONE;

		if (has_ports(headers) && outbound) {
			number = lb_set_find(set, lb_destination_of(&headers->tuple, LB_VIP));
			look_up->keys[count] = &headers->tuple;
		} else if (has_ports(headers)) {
			number = lb_set_find(set, lb_source_of(&headers->tuple, LB_BACKEND));
			look_up->keys[count] = &look_up->replies[i];
			if (number != LB_NONE)
				look_up->replies[i] = lb_key_of_reply(
					&headers->tuple,
					&set->services[set->backends[number].service].at);
		}
		look_up->number[i] = number;
		count += number != LB_NONE;
	}
	look_up->count = count;
	weir_flow_table_find(lb->index, look_up->keys, look_up->found, count);
}

/* For no service, but perhaps to the address of one, which is all that later fragments say. */
static void
decide_other(struct lb *lb, const struct weir_batch *batch, uint16_t index,
	     struct weir_action *action)
{
	const struct weir_tuple *tuple = &batch->headers[index].tuple;

	lb_decide_other(lb, action);
	if (likely((batch->headers[index].flags & WEIR_HEADER_FRAGMENT) == 0))
		return;
	action->src_ip = tuple->src_ip;
	action->dst_ip = tuple->dst_ip;
	lb_remember_fragment(lb, batch, index, action);
}

void
lb_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct lb *lb = state;
	struct look_up known;
	unsigned int next = 0;

	look_up(lb, batch, &known);
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct lb_connection *connection;

		if (known.number[i] == LB_NONE) {
			if (has_ports(headers))
				decide_other(lb, batch, i, &actions[i]);
			else
				lb_decide_rare(lb, batch, i, &actions[i]);
			continue;
		}
		if (likely(known.found[next] != WEIR_FLOW_NONE))
			connection = &lb->connections[known.found[next]];
		else /* a packet before it in this batch may have begun it */
			connection = lb_connection_find(lb, known.keys[next]);
		next++;
		if (batch->direction == WEIR_OUTBOUND)
			decide_to_service(lb, batch, headers, known.number[i], connection,
					  &actions[i]);
		else
			decide_from_backend(lb, headers, known.number[i], connection, &actions[i]);
		if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0))
			lb_remember_fragment(lb, batch, i, &actions[i]);
	}
}
