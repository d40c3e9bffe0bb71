/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of connections that are open at the same time: clients and servers in one process, joined
 * by two rings, each connection with one request and one answer and then thinking.
 *
 *   connections-open-bench MILLIONS     prints one line of JSON
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ring.h>

#include "engine/loop.h"
#include "side.h"

#define RING 65536
#define MESSAGE_BYTES 100
#define RATE 1000000 /* new connections a second of the time that both are told */
#define NEW_A_POLL 4
#define SETTLE_POLLS                                                                               \
	1000000 /* the start lies a little ahead; a SYN that found no room is sent again */
#define SOURCE_PORT_FIRST 1024
#define PORTS_A_SOURCE (UINT16_MAX - SOURCE_PORT_FIRST + 1)
#define THINK_NS 1000000000000 /* longer than it takes */

/* The rings of one side. */
struct end {
	struct rte_ring *in, *out;
};

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t burst)
{
	const struct end *end = state;

	return rte_ring_enqueue_burst(end->out, (void **)packets, burst, NULL);
}

static uint16_t
receive(void *state, struct rte_mbuf **packets, uint16_t burst)
{
	const struct end *end = state;

	return rte_ring_dequeue_burst(end->in, (void **)packets, burst, NULL);
}

static int
fail(const struct weir_error *error)
{
	fprintf(stderr, "connections-open-bench: %s\n", error->message);
	return 1;
}

static void
report(void)
{
	struct weir_connections_count counted;
	struct rusage usage;

	weir_connections_counted(&counted);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"open_clients\": %lu, \"open_servers\": %lu, \"transactions\": %lu, "
	       "\"servers_no_room\": %lu, \"refused\": %lu, \"resent\": %lu, \"resident_bytes\": "
	       "%lu}\n",
	       counted.clients.open, counted.servers.open, counted.clients.transactions,
	       counted.servers.no_room, counted.clients.tx_refused + counted.servers.tx_refused,
	       counted.clients.retransmissions, (unsigned long)usage.ru_maxrss * 1024);
}

static int
measure(uint64_t connections, struct rte_ring *to_clients, struct rte_ring *to_servers)
{
	static const struct weir_queue_driver driver = {.receive = receive, .transmit = transmit};
	struct end ends[2] = {{to_clients, to_servers}, {to_servers, to_clients}};
	const struct weir_queue client = {
		.kind = WEIR_QUEUE_DRIVER, .driver = &driver, .driver_state = &ends[0]};
	const struct weir_queue server = {
		.kind = WEIR_QUEUE_DRIVER, .driver = &driver, .driver_state = &ends[1]};
	const struct weir_connections_config config = {
		.clients = {.port_id = 0},
		.servers = {.port_id = 1},
		.source = 0xc6120001 /* 198.18.0.1 */,
		.source_count = (uint32_t)(connections / PORTS_A_SOURCE + 1),
		.source_port_first = SOURCE_PORT_FIRST,
		.source_port_last = UINT16_MAX,
		.destination = 0xc6130001 /* 198.19.0.1 */,
		.destination_count = 1,
		.mss = 1460,
		.retries = 3,
		.retransmit_ns = 1000000000,
		.service_count = 1,
		.services = {{.port = 80,
			      .transactions = 2,
			      .weight = 1,
			      .request_bytes = MESSAGE_BYTES,
			      .answer_bytes = MESSAGE_BYTES,
			      .think_ns = THINK_NS}},
	};
	const struct weir_connections_run run = {
		.rate = RATE,
		/* Behind it they would close. */
		.duration_ns = 2 * (connections + SETTLE_POLLS * NEW_A_POLL) * (1000000000 / RATE),
		.connections = connections,
		.hold = true,
	};
	struct weir_error error;
	struct weir_area *clients = weir_clients_create("clients", 0, &client, 0, &error);
	struct weir_area *servers = weir_servers_create("servers", 0, &server, 1, &error);
	uint64_t now;

	if (clients == NULL || servers == NULL || weir_connections_configure(&config, &error) < 0 ||
	    weir_connections_start(&run, &error) < 0)
		return fail(&error);
	now = rte_rdtsc();
	/* In a time of its own, with so many new ones a poll that all that comes back fits one. */
	for (uint64_t poll = 0; poll < connections / NEW_A_POLL + SETTLE_POLLS; poll++) {
		now += NEW_A_POLL * rte_get_tsc_hz() / RATE;
		clients->poll(clients, now);
		servers->poll(servers, now);
	}
	report();
	return 0;
}

int
main(int argc, char **argv)
{
	char *arguments[] = {"connections-open-bench",
			     "--no-huge",
			     "--no-shconf",
			     "--no-pci",
			     "-m",
			     "1024",
			     "-l",
			     "0",
			     "--log-level=error"};

	if (argc != 2 || rte_eal_init(RTE_DIM(arguments), arguments) < 0)
		return 1;
	struct rte_ring *to_servers = rte_ring_create("to_servers", RING, SOCKET_ID_ANY, 0);
	struct rte_ring *to_clients = rte_ring_create("to_clients", RING, SOCKET_ID_ANY, 0);
	if (to_servers == NULL || to_clients == NULL)
		return 1;
	return measure((uint64_t)(strtod(argv[1], NULL) * 1e6), to_clients, to_servers);
}
