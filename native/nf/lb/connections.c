/* SPDX-License-Identifier: Apache-2.0 */
/* The table of connections: 64 bytes each, an index over them, and a sweep that ends idle ones. */
#include <string.h>

#include <netinet/in.h>
#include <rte_malloc.h>

#include "lb.h"

#define NO_CONNECTION UINT32_MAX
#define SWEEP_CALLS 1000
#define SWEEP_MIN 64

int
lb_connections_init(struct lb *lb, const char *where, struct weir_error *error)
{
	uint32_t count = lb->connections_max;

	lb->connections =
		rte_zmalloc("lb", count * sizeof(struct lb_connection), RTE_CACHE_LINE_SIZE);
	if (lb->connections != NULL)
		lb->index = weir_flow_table_create(count, lb->connections,
						   sizeof(struct lb_connection));
	if (lb->index == NULL)
		return weir_fail(error, "no_memory", where, NULL,
				 "give weir-dp more --memory-mb, or lower connections_max",
				 "no memory for %u connections", count);
	for (uint32_t i = 0; i < count; i++)
		lb->connections[i].next_free = i + 1 < count ? i + 1 : NO_CONNECTION;
	lb->first_free = 0;
	return 0;
}

void
lb_connections_fini(struct lb *lb)
{
	weir_flow_table_free(lb->index);
	rte_free(lb->connections);
}

struct lb_connection *
lb_connection_find(struct lb *lb, const struct weir_tuple *key)
{
	const void *keys[] = {key};
	uint32_t number;

	weir_flow_table_find(lb->index, keys, &number, 1);
	return number != WEIR_FLOW_NONE ? &lb->connections[number] : NULL;
}

struct lb_connection *
lb_connection_create(struct lb *lb, const struct weir_tuple *key, uint64_t now_tsc)
{
	uint32_t number = lb->first_free;
	struct lb_connection *connection;

	if (number == NO_CONNECTION)
		return NULL;
	connection = &lb->connections[number];
	lb->first_free = connection->next_free;
	memset(connection, 0, sizeof(*connection));
	connection->key = *key;
	connection->active_at = weir_session_time(now_tsc);
	if (weir_flow_table_put(lb->index, number)) {
		weir_count(&lb->connection_count, 1);
		return connection;
	}
	connection->key.protocol = 0;
	connection->next_free = lb->first_free;
	lb->first_free = number;
	return NULL;
}

static void
end(struct lb *lb, uint32_t number, struct weir_flow_cache *cache)
{
	struct lb_connection *connection = &lb->connections[number];

	weir_flow_cache_forget(cache, &connection->invalidation);
	weir_flow_table_take(lb->index, number);
	weir_count(&lb->connection_count, -(uint64_t)1);
	connection->key.protocol = 0;
	connection->next_free = lb->first_free;
	lb->first_free = number;
}

static uint32_t
timeout_of(const struct lb *lb, const struct lb_connection *connection)
{
	if (connection->key.protocol == IPPROTO_UDP)
		return lb->timeouts.udp;
	if (lb_is_closed(connection))
		return lb->timeouts.fin;
	return (connection->flags & LB_CLIENT_SPOKE) != 0 ? lb->timeouts.tcp : lb->timeouts.syn;
}

/* Whether packets came since this was asked last. */
static bool
has_moved(struct lb_connection *connection, uint32_t now)
{
	if (connection->counter.packets == connection->swept_packets)
		return false;
	connection->swept_packets = connection->counter.packets;
	connection->active_at = now;
	return true;
}

void
lb_connections_sweep(struct lb *lb, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	uint32_t now = weir_session_time(now_tsc);
	uint32_t count = RTE_MIN(lb->connections_max, RTE_MAX(lb->connections_max / SWEEP_CALLS + 1,
							      (uint64_t)SWEEP_MIN));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = lb->sweep_at;
		struct lb_connection *connection = &lb->connections[number];

		bool flushes = lb->flush_left > 0;

		lb->flush_left -= flushes;
		lb->sweep_at = number + 1 < lb->connections_max ? number + 1 : 0;
		if (connection->key.protocol == 0 || has_moved(connection, now) ||
		    (!flushes && now - connection->active_at <= timeout_of(lb, connection)))
			continue;
		weir_flow_cache_flush_for(cache, &connection->invalidation);
		if (!has_moved(connection, now))
			end(lb, number, cache);
	}
}
