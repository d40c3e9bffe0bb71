/* SPDX-License-Identifier: Apache-2.0 */
/* The area of the servers; its control. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "server.h"

#define EXPIRE_MOST 32

static struct weir_servers *weir_servers;

struct weir_side *
weir_servers_side(void)
{
	return weir_servers != NULL ? &weir_servers->side : NULL;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct weir_servers *servers = (struct weir_servers *)(void *)area;
	uint32_t numbers[EXPIRE_MOST], handled = weir_servers_receive(servers, now_tsc);
	unsigned int expired;

	if (!servers->side.running)
		return handled;
	expired = weir_wheel_expire(&servers->side.wheel, now_tsc, numbers, EXPIRE_MOST);
	for (unsigned int i = 0; i < expired; i++)
		weir_served_expire(servers, &servers->served[numbers[i]], now_tsc);
	weir_side_flush(&servers->side);
	return handled + expired;
}

struct weir_area *
weir_servers_create(const char *name, unsigned int core, const struct weir_queue *queue,
		    uint16_t port_id, struct weir_error *error)
{
	struct weir_servers *servers;

	if (weir_servers != NULL) {
		weir_fail(error, "bad_argument", name, "one area of servers", NULL,
			  "there are servers already: '%s'", weir_servers->side.area.name);
		return NULL;
	}
	servers = calloc(1, sizeof(*servers));
	if (servers == NULL) {
		weir_fail(error, "no_memory", name, NULL, NULL, "no memory");
		return NULL;
	}
	snprintf(servers->side.name, sizeof(servers->side.name), "%s", name);
	servers->side.area = (struct weir_area){
		.poll = poll,
		.name = servers->side.name,
		.core = core,
	};
	servers->side.queue = *queue;
	servers->side.port_id = port_id;
	servers->side.learns = true;
	weir_servers = servers;
	return &servers->side.area;
}

void
weir_servers_destroy(struct weir_area *area)
{
	weir_servers_forget();
	free(area);
	weir_servers = NULL;
}

int
weir_servers_prepare(const struct weir_connections_config *config, struct weir_error *error)
{
	uint32_t capacity =
		config->source_count * (config->source_port_last - config->source_port_first + 1u);
	struct weir_served *served = weir_side_memory(capacity * sizeof(*served));
	struct weir_flow_table *table = NULL;

	if (served != NULL)
		table = weir_flow_table_create(capacity, served, sizeof(*served));
	if (table == NULL) {
		weir_side_memory_free(served, capacity * sizeof(*served));
		return weir_fail(error, "no_memory", "servers", NULL, "give weir-dp more --memory",
				 "no memory for %u connections", capacity);
	}
	if (weir_side_prepare(&weir_servers->side, &config->servers, config, error) < 0) {
		weir_flow_table_free(table);
		weir_side_memory_free(served, capacity * sizeof(*served));
		return -1;
	}
	weir_servers_forget();
	weir_servers->capacity = capacity;
	weir_servers->served = served;
	weir_servers->table = table;
	weir_servers->side.random = ~config->seed;
	return 0;
}

void
weir_servers_forget(void)
{
	if (weir_servers == NULL)
		return;
	weir_servers->side.running = false;
	if (weir_servers->table != NULL)
		weir_flow_table_free(weir_servers->table);
	weir_side_memory_free(weir_servers->served,
			      weir_servers->capacity * sizeof(struct weir_served));
	weir_servers->table = NULL;
	weir_servers->served = NULL;
	weir_servers->fresh = 0;
}

void
weir_servers_begin(uint64_t start_tsc)
{
	struct weir_servers *servers = weir_servers;

	for (uint32_t i = 0; i < servers->fresh; i++) {
		if (servers->served[i].tcp.state != WEIR_SERVED_FREE)
			weir_flow_table_take(servers->table, i);
		servers->served[i].tcp.state = WEIR_SERVED_FREE;
		servers->served[i].link.due = 0;
	}
	servers->fresh = 0;
	servers->side.prefixes.count = 0;
	servers->freed_first = servers->freed_last = WEIR_WHEEL_NONE;
	weir_wheel_begin(&servers->side.wheel, &servers->served[0].link, sizeof(struct weir_served),
			 rte_get_tsc_hz(), start_tsc);
	memset(&servers->side.count, 0, sizeof(servers->side.count));
	servers->side.running = true;
}
