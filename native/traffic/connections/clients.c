/* SPDX-License-Identifier: Apache-2.0 */
/* The area of the clients: opens connections when they are due; its control. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "client.h"
#include "traffic/stream.h"

#define OPEN_MOST 32 /* of one poll */
#define EXPIRE_MOST 32

static struct weir_clients *weir_clients;

struct weir_side *
weir_clients_side(void)
{
	return weir_clients != NULL ? &weir_clients->side : NULL;
}

static uint32_t
open_due(struct weir_clients *clients, uint64_t now_tsc)
{
	uint64_t opened = weir_counted(&clients->side.count.opened), due;

	if (clients->all_opened)
		return 0;
	if (now_tsc > clients->deadline_tsc || weir_pacing_ended(&clients->arrivals, opened)) {
		if (clients->paced && clients->hold)
			return 0; /* transactions are still to come, though all may have failed */
		__atomic_store_n(&clients->all_opened, true, __ATOMIC_RELEASE);
		return 0;
	}
	due = weir_pacing_due(&clients->arrivals, now_tsc, opened + OPEN_MOST);
	if (due <= opened)
		return 0;
	due = RTE_MIN(due - opened, (uint64_t)OPEN_MOST);
	for (uint64_t i = 0; i < due; i++)
		weir_client_open(clients, now_tsc);
	clients->last_opened_tsc = now_tsc;
	return (uint32_t)due;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct weir_clients *clients = (struct weir_clients *)(void *)area;
	uint32_t numbers[EXPIRE_MOST], handled;
	unsigned int expired;

	handled = weir_clients_receive(clients, now_tsc);
	if (!clients->side.running)
		return handled;
	if (clients->hold && weir_clients_hold_is_over(clients, now_tsc))
		clients->hold = false;
	expired = weir_wheel_expire(&clients->side.wheel, now_tsc, numbers, EXPIRE_MOST);
	for (unsigned int i = 0; i < expired; i++)
		weir_client_expire(clients, &clients->connections[numbers[i]], now_tsc);
	handled += expired + open_due(clients, now_tsc) + weir_clients_begin_due(clients, now_tsc);
	weir_side_flush(&clients->side);
	return handled;
}

struct weir_area *
weir_clients_create(const char *name, unsigned int core, const struct weir_queue *queue,
		    uint16_t port_id, struct weir_error *error)
{
	struct weir_clients *clients;

	if (weir_clients != NULL) {
		weir_fail(error, "bad_argument", name, "one area of clients", NULL,
			  "there are clients already: '%s'", weir_clients->side.area.name);
		return NULL;
	}
	clients = calloc(1, sizeof(*clients));
	if (clients == NULL) {
		weir_fail(error, "no_memory", name, NULL, NULL, "no memory");
		return NULL;
	}
	snprintf(clients->side.name, sizeof(clients->side.name), "%s", name);
	clients->side.area = (struct weir_area){
		.poll = poll,
		.name = clients->side.name,
		.core = core,
	};
	clients->side.queue = *queue;
	clients->side.port_id = port_id;
	weir_clients = clients;
	return &clients->side.area;
}

void
weir_clients_destroy(struct weir_area *area)
{
	weir_clients_forget();
	free(area);
	weir_clients = NULL;
}

int
weir_clients_prepare(const struct weir_connections_config *config, struct weir_error *error)
{
	uint16_t ports = config->source_port_last - config->source_port_first + 1;
	size_t bytes = (size_t)config->source_count * ports * sizeof(struct weir_connection);
	struct weir_connection *connections;

	if (weir_side_prepare(&weir_clients->side, &config->clients, config, error) < 0)
		return -1;
	connections = weir_side_memory(bytes);
	if (connections == NULL)
		return weir_fail(error, "no_memory", "clients", NULL, NULL,
				 "no memory for %zu connections", bytes / sizeof(*connections));
	weir_clients_forget();
	weir_clients->config = *config;
	weir_clients->memory_bytes = bytes;
	weir_clients->source_ports = ports;
	weir_clients->prefixes = config->ipv6 ? 1 : 0;
	weir_clients->side.prefixes = (struct weir_prefix_pairs){.count = weir_clients->prefixes};
	weir_clients->side.prefixes.pair[0] = config->prefixes;
	weir_clients->source_count = (uint32_t)(bytes / sizeof(*connections));
	weir_clients->fresh_at = 0;
	weir_clients->fresh_left = weir_clients->source_count;
	weir_clients->weights = 0;
	for (unsigned int i = 0; i < config->service_count; i++)
		weir_clients->weights += config->services[i].weight;
	weir_clients->side.random = config->seed;
	weir_clients->connections = connections;
	return 0;
}

void
weir_clients_forget(void)
{
	if (weir_clients == NULL)
		return;
	weir_clients->side.running = false;
	weir_side_memory_free(weir_clients->connections, weir_clients->memory_bytes);
	weir_clients->connections = NULL;
}

void
weir_clients_begin(const struct weir_connections_run *run, uint64_t start_tsc)
{
	struct weir_clients *clients = weir_clients;
	uint64_t hz = rte_get_tsc_hz();

	for (uint32_t i = 0; i < clients->source_count; i++) {
		clients->connections[i].tcp.state = WEIR_CLIENT_FREE;
		clients->connections[i].link.due = 0;
		clients->connections[i].idle = false;
	}
	clients->fresh_left = clients->source_count;
	clients->freed_first = clients->freed_last = WEIR_WHEEL_NONE;
	weir_wheel_begin(&clients->side.wheel, &clients->connections[0].link,
			 sizeof(struct weir_connection), hz, start_tsc);
	memset(&clients->side.count, 0, sizeof(clients->side.count));
	memset(clients->services, 0, sizeof(clients->services));
	weir_histogram_clear(&clients->connect);
	weir_histogram_clear(&clients->first_byte);
	weir_histogram_clear(&clients->transaction);
	clients->open_most = 0;
	clients->arrivals = weir_pacing_of(run->rate, run->duration_ns, hz, run->poisson,
					   weir_random_next(&clients->side.random));
	clients->arrivals.start_tsc = start_tsc;
	if (run->connections > 0)
		weir_pacing_limit(&clients->arrivals, run->connections);
	clients->start_tsc = clients->last_opened_tsc = start_tsc;
	/* What is still to be opened somewhat later than the end is the tester's fault. */
	clients->deadline_tsc = start_tsc + clients->arrivals.duration_cycles +
				clients->arrivals.duration_cycles / 100 + hz / 100;
	clients->hold = run->hold;
	clients->paced = run->hold && run->transaction_rate > 0;
	clients->idle_first = clients->idle_last = WEIR_WHEEL_NONE;
	clients->transactions_begun = clients->transactions_missed = 0;
	clients->transactions =
		weir_pacing_of(run->transaction_rate, run->duration_ns - run->transactions_after_ns,
			       hz, run->poisson, weir_random_next(&clients->side.random));
	clients->transactions.start_tsc =
		start_tsc + (uint64_t)((double)run->transactions_after_ns * 1e-9 * (double)hz);
	clients->hold_until_tsc = start_tsc + clients->arrivals.duration_cycles;
	clients->closing_cycles = (uint64_t)((double)run->drain_ns / 2 * 1e-9 * (double)hz);
	clients->all_opened = false;
	clients->side.running = true;
}

bool
weir_clients_have_opened(void)
{
	return __atomic_load_n(&weir_clients->all_opened, __ATOMIC_ACQUIRE);
}

/* On the clients' thread. */
void
weir_clients_counted(struct weir_connections_count *count)
{
	const struct weir_clients *clients = weir_clients;

	count->intended = weir_pacing_intended(&clients->arrivals, clients->side.count.opened);
	count->duration_ns = (uint64_t)((double)(clients->last_opened_tsc - clients->start_tsc) *
					1e9 / (double)rte_get_tsc_hz());
	count->open_most = clients->open_most;
	if (clients->paced) {
		count->transactions_begun = clients->transactions_begun;
		count->transactions_missed = clients->transactions_missed;
		count->transactions_intended = weir_pacing_intended(
			&clients->transactions,
			clients->transactions_begun + clients->transactions_missed);
	}
	count->clients = clients->side.count;
	count->service_count = clients->config.service_count;
	memcpy(count->services, clients->services, sizeof(count->services));
	weir_latency_of(&clients->connect, &count->connect);
	weir_latency_of(&clients->first_byte, &count->first_byte);
	weir_latency_of(&clients->transaction, &count->transaction);
}
