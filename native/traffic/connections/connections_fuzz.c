/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of connections: clients and servers talk over a wire on which the input does what it
 * likes: loses, doubles, turns round and changes segments, puts in frames of its own, lets time
 * pass. Aborts when a connection is neither completed, failed nor open, or a buffer is lost.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "side.h"
#include "testing/fuzz.h"

#define WAY_PACKETS 512
#define STEPS_MOST 4096 /* of one input */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* One direction. */
struct way {
	unsigned int count, first;
	struct rte_mbuf *packets[WAY_PACKETS];
};
static struct way ways[2]; /* by who sent: 0 the clients, 1 the servers */
static struct weir_area *areas[2];

static void
put(struct way *way, struct rte_mbuf *packet)
{
	if (way->count == WAY_PACKETS)
		rte_pktmbuf_free(packet);
	else
		way->packets[(way->first + way->count++) % WAY_PACKETS] = packet;
}

static struct rte_mbuf *
take(struct way *way)
{
	struct rte_mbuf *packet = way->packets[way->first];

	way->first = (way->first + 1) % WAY_PACKETS;
	way->count--;
	return packet;
}

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++)
		put(state, packets[i]);
	return count;
}

static uint16_t
receive(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct way *other = state == &ways[0] ? &ways[1] : &ways[0];
	uint16_t taken = 0;

	while (taken < count && other->count > 0)
		packets[taken++] = take(other);
	return taken;
}

static struct weir_connections_config config = {
	.clients = {.port_id = 0},
	.servers = {.port_id = 1},
	.prefixes = {.peer = {0x20, 0x01, 0, 2}, .own = {0x20, 0x01, 0, 2, 0, 0, 0, 1}},
	.source = 0x0a000001,
	.source_count = 2,
	.source_port_first = 1024,
	.source_port_last = 1039,
	.destination = 0x0a000101,
	.destination_count = 2,
	.mss = 536,
	.retries = 2,
	.retransmit_ns = 1000000000,
	.service_count = 3,
	.services = {{.port = 80,
		      .transactions = 2,
		      .weight = 2,
		      .request_bytes = 700,
		      .answer_bytes = 3000},
		     {.port = 443,
		      .reset = true,
		      .transactions = 2,
		      .weight = 1,
		      .request_bytes = 16,
		      .answer_bytes = 1,
		      .think_ns = 500000000},
		     {.port = 53,
		      .udp = true,
		      .transactions = 2,
		      .weight = 1,
		      .request_bytes = 40,
		      .answer_bytes = 100}},
	.seed = 1,
};

static void
make_ends(void)
{
	static const struct weir_queue_driver driver = {.receive = receive, .transmit = transmit};
	struct weir_queue queue = {
		.kind = WEIR_QUEUE_DRIVER, .driver = &driver, .driver_state = &ways[0]};
	struct weir_error error;

	areas[0] = weir_clients_create("clients", 0, &queue, 0, &error);
	queue.driver_state = &ways[1];
	areas[1] = weir_servers_create("servers", 0, &queue, 1, &error);
	if (areas[0] == NULL || areas[1] == NULL)
		abort();
}

static bool
is_balanced(const struct weir_side_count *side)
{
	uint64_t ended = side->completed + side->open;

	for (unsigned int why = 0; why < WEIR_FAILURES; why++)
		ended += side->failed[why];
	return side->opened == ended;
}

/* The next packet on its way is changed, with checksums that are right all the same: flags, numbers
 * and length, by as many bytes as there are. */
static void
change(struct way *way, const uint8_t *bytes, size_t size)
{
	static const struct weir_link_header link = {.length = 14};
	struct weir_prefix_pair prefixes;
	struct weir_segment segment;
	struct rte_mbuf *packet;
	uint8_t payload[1500];

	if (way->count == 0 || size < 4)
		return;
	packet = take(way);
	if (weir_segment_read(packet, &segment) == WEIR_SEGMENT_READ) {
		uint16_t most = RTE_MIN((uint16_t)sizeof(payload), WEIR_CONNECTION_MSS_MAX);

		segment.payload_bytes = RTE_MIN(segment.payload_bytes, most);
		memcpy(payload, segment.payload, segment.payload_bytes);
		if (segment.addresses != NULL)
			prefixes = weir_prefix_pair(segment.addresses + 16, segment.addresses);
		segment.flags ^= bytes[0];
		segment.sequence += (uint32_t)(int8_t)bytes[1];
		segment.acknowledged += (uint32_t)(int8_t)bytes[2];
		segment.payload_bytes = (uint16_t)RTE_MIN(
			(unsigned int)segment.payload_bytes * (bytes[3] >> 4) / 8, most);
		if (size > 4 && segment.payload_bytes > 0)
			payload[bytes[4] % segment.payload_bytes] ^= bytes[3];
		segment.payload = payload;
		rte_pktmbuf_reset(packet);
		weir_segment_write(packet, &link, &segment,
				   segment.addresses != NULL ? &prefixes : NULL, NULL, 0, 0);
	}
	put(way, packet);
}

/* What happens on the wire; the first byte says what and where. */
static void
command(const uint8_t *bytes, size_t size)
{
	struct way *way;

	if (size == 0)
		return;
	way = &ways[bytes[0] >> 7];
	if (way->count == 0)
		return;
	switch (bytes[0] % 4) {
	case 0:
		rte_pktmbuf_free(take(way));
		break;
	case 1:
		put(way, take(way));
		break;
	case 2: {
		struct rte_mbuf *packet = take(way);
		struct rte_mbuf *copy = rte_pktmbuf_copy(packet, packet->pool, 0, UINT32_MAX);

		put(way, packet);
		if (copy != NULL)
			put(way, copy);
		break;
	}
	default:
		change(way, bytes + 1, size - 1);
	}
}

static void
poll_ends(uint64_t now_tsc)
{
	areas[0]->poll(areas[0], now_tsc);
	areas[1]->poll(areas[1], now_tsc);
}

/* Of one version of IP. */
static void
talk(const uint8_t *bytes, size_t size, bool ipv6)
{
	const struct weir_connections_run run = {
		.rate = 1000, .duration_ns = 20000000, .connections = 20};
	const uint64_t tick = rte_get_tsc_hz() / 1000;
	struct weir_fuzz_record record;
	struct weir_error error;
	uint64_t now_tsc;

	config.ipv6 = ipv6;
	if (weir_connections_configure(&config, &error) < 0 ||
	    weir_connections_start(&run, &error) < 0)
		abort();
	now_tsc = rte_rdtsc();
	for (unsigned int step = 0; step < STEPS_MOST && weir_fuzz_record(&bytes, &size, &record);
	     step++, now_tsc += tick) {
		if (record.kind == WEIR_FUZZ_COMMAND)
			command(record.bytes, record.size);
		else if (record.kind == WEIR_FUZZ_TIME)
			now_tsc += record.size > 0 ? record.bytes[0] * tick * 64 : 0;
		else
			put(&ways[!weir_fuzz_outbound(record.kind)],
			    weir_fuzz_packet(record.bytes, record.size));
		poll_ends(now_tsc);
		if (!is_balanced(&weir_clients_side()->count) ||
		    !is_balanced(&weir_servers_side()->count))
			abort();
	}
	weir_connections_stop();
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		while (ways[i].count > 0)
			rte_pktmbuf_free(take(&ways[i]));
	}
	for (unsigned int i = 0; i < RTE_DIM(areas); i++) {
		const struct weir_side *side = i == 0 ? weir_clients_side() : weir_servers_side();

		if (rte_mempool_in_use_count(side->pool) != side->out_count)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (areas[0] == NULL)
		make_ends();
	talk(bytes, size, false);
	talk(bytes, size, true);
	return 0;
}
