/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New connections a second of one core's clients, against servers that cost nothing: each answer is
 * made of the packet itself, and the time for that is taken off. A connection is SYN to FIN with
 * one request of 100 bytes and one answer of as many.
 *
 *   connections-bench MILLIONS [6]     of connections, with 6 over IPv6; prints one line of JSON
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "engine/loop.h"
#include "side.h"

#define WAITING_MOST 65536
#define MESSAGE_BYTES 100
#define RATE 1000000 /* new connections a second of the time that the clients are told */
#define NEW_A_POLL 8

static struct rte_mbuf *waiting[WAITING_MOST];
static unsigned int first, count;
static uint64_t responder_cycles;

/* What a server would send back, in the same buffer; its checksum follows from the old one, as all
 * that changes is known. */
static bool
answer(struct rte_mbuf *packet)
{
	struct weir_segment segment;
	struct weir_link_header link = {.length = RTE_ETHER_HDR_LEN};
	struct weir_segment back = {0};
	struct weir_prefix_pair prefixes;
	uint8_t salt;

	if (weir_segment_read(packet, &segment) != WEIR_SEGMENT_READ)
		return false;
	back.tuple = (struct weir_tuple){
		.src_ip = segment.tuple.dst_ip,
		.dst_ip = segment.tuple.src_ip,
		.src_port = segment.tuple.dst_port,
		.dst_port = segment.tuple.src_port,
		.protocol = segment.tuple.protocol,
	};
	back.sequence = segment.acknowledged;
	back.acknowledged = segment.sequence + segment.payload_bytes;
	back.flags = RTE_TCP_ACK_FLAG;
	if ((segment.flags & RTE_TCP_SYN_FLAG) != 0) {
		back.sequence = 1;
		back.acknowledged++;
		back.flags |= RTE_TCP_SYN_FLAG;
	} else if ((segment.flags & RTE_TCP_FIN_FLAG) != 0) {
		back.acknowledged++;
		back.flags |= RTE_TCP_FIN_FLAG;
	} else if (segment.payload_bytes > 0) {
		salt = ((const struct weir_request *)(const void *)segment.payload)->salt;
		back.flags |= RTE_TCP_PSH_FLAG;
		back.payload_bytes = MESSAGE_BYTES;
		back.payload = weir_pattern_at(0, salt);
	} else {
		return false;
	}
	memcpy(link.bytes, rte_pktmbuf_mtod(packet, uint8_t *), RTE_ETHER_HDR_LEN);
	if (segment.addresses != NULL)
		prefixes = weir_prefix_pair(segment.addresses, segment.addresses + 16);
	weir_segment_write(packet, &link, &back, segment.addresses != NULL ? &prefixes : NULL, NULL,
			   0, 0);
	return true;
}

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t burst)
{
	uint64_t began = rte_rdtsc();

	(void)state;
	for (uint16_t i = 0; i < burst; i++) {
		if (count == WAITING_MOST || !answer(packets[i])) {
			rte_pktmbuf_free(packets[i]);
			continue;
		}
		waiting[(first + count++) % WAITING_MOST] = packets[i];
	}
	responder_cycles += rte_rdtsc() - began;
	return burst;
}

static uint16_t
receive(void *state, struct rte_mbuf **packets, uint16_t burst)
{
	uint16_t taken = 0;

	(void)state;
	for (; taken < burst && count > 0; count--) {
		packets[taken++] = waiting[first];
		first = (first + 1) % WAITING_MOST;
	}
	return taken;
}

static int
fail(const struct weir_error *error)
{
	fprintf(stderr, "connections-bench: %s\n", error->message);
	return 1;
}

/* The thread that runs this is an lcore of DPDK, whose cache of packet buffers it has. */
static int
measure(double seconds, bool ipv6)
{
	static const struct weir_queue_driver driver = {.receive = receive, .transmit = transmit};
	const struct weir_queue queue = {.kind = WEIR_QUEUE_DRIVER, .driver = &driver};
	const struct weir_queue nothing = {.kind = WEIR_QUEUE_NONE};
	const struct weir_connections_config config = {
		.clients = {.port_id = 0},
		.servers = {.port_id = 1},
		/* 198.18.0.1 and 198.19.0.1, or behind these prefixes. */
		.ipv6 = ipv6,
		.prefixes = {.peer = {0x20, 0x01, 0, 2, 0, 0, 0, 2},
			     .own = {0x20, 0x01, 0, 2, 0, 0, 0, 1}},
		.source = 0xc6120001,
		.source_count = 16,
		.source_port_first = 1024,
		.source_port_last = UINT16_MAX,
		.destination = 0xc6130001,
		.destination_count = 1,
		.mss = ipv6 ? WEIR_CONNECTION_IPV6_MSS_MAX : WEIR_CONNECTION_MSS_MAX,
		.retries = 3,
		.retransmit_ns = 1000000000,
		.service_count = 1,
		.services = {{.port = 80,
			      .transactions = 1,
			      .weight = 1,
			      .request_bytes = MESSAGE_BYTES,
			      .answer_bytes = MESSAGE_BYTES}},
	};
	const struct weir_connections_run run = {
		.rate = RATE,
		.duration_ns = (uint64_t)(seconds * 1e9),
	};
	struct weir_connections_count counted;
	struct weir_error error;
	uint64_t began, cycles;
	struct weir_area *clients = weir_clients_create("clients", 0, &queue, 0, &error);

	if (clients == NULL || weir_servers_create("servers", 0, &nothing, 1, &error) == NULL ||
	    weir_connections_configure(&config, &error) < 0 ||
	    weir_connections_start(&run, &error) < 0)
		return fail(&error);
	began = rte_rdtsc();
	/* In a time of its own, with so many new ones a poll that all that comes back fits one. */
	for (uint64_t poll = 0, now = began; poll < RATE * seconds / NEW_A_POLL; poll++) {
		now += NEW_A_POLL * rte_get_tsc_hz() / RATE;
		clients->poll(clients, now);
	}
	cycles = rte_rdtsc() - began - responder_cycles;
	weir_connections_counted(&counted);
	printf("{\"completed\": %lu, \"opened\": %lu, \"seconds\": %.3f, \"per_s\": %.0f, "
	       "\"ns\": %.1f}\n",
	       counted.clients.completed, counted.clients.opened,
	       (double)cycles / (double)rte_get_tsc_hz(),
	       (double)counted.clients.completed * (double)rte_get_tsc_hz() / (double)cycles,
	       (double)cycles / (double)rte_get_tsc_hz() * 1e9 / (double)counted.clients.completed);
	return 0;
}

int
main(int argc, char **argv)
{
	char *arguments[] = {
		"connections-bench", "--no-huge", "--no-shconf", "--no-pci", "-m", "256", "-l", "0",
		"--log-level=error"};

	if (rte_eal_init(RTE_DIM(arguments), arguments) < 0)
		return 1;
	return measure(argc > 1 ? strtod(argv[1], NULL) : 1.0,
		       argc > 2 && strcmp(argv[2], "6") == 0);
}
