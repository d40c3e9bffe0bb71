/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_fixture_test.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "side.h"
#include "testing/eal.h"
#include "traffic/random.h"

#define STEP_NS 20000

struct wire wire;

const struct weir_connections_run wire_one = {
	.rate = 1000, .duration_ns = 10 * MS_NS, .connections = 1, .drain_ns = 3600 * S_NS};
const struct weir_connections_run wire_thousand = {
	.rate = 10000, .duration_ns = 100 * MS_NS, .drain_ns = 3600 * S_NS};

/* One direction. */
struct way {
	bool from_client;
	unsigned int count, first;
	struct rte_mbuf *packets[WIRE_PACKETS];
};
static struct way ways[2] = {{.from_client = true}, {.from_client = false}};
static struct weir_area *clients, *servers;

static bool
happens(double share)
{
	return share > 0 && weir_random_unit(&wire.random) < share;
}

static void
put(struct way *way, struct rte_mbuf *packet)
{
	unsigned int at = (way->first + way->count) % WIRE_PACKETS;

	assert_true(way->count < WIRE_PACKETS);
	way->packets[at] = packet;
	way->count++;
	if (way->count > 1 && happens(wire.swapped)) {
		unsigned int before = (at + WIRE_PACKETS - 1) % WIRE_PACKETS;

		way->packets[at] = way->packets[before];
		way->packets[before] = packet;
	}
}

static void
note(bool from_client, const struct rte_mbuf *packet)
{
	struct seen *seen = &wire.trace[wire.seen];

	if (wire.seen == TRACE_MOST)
		return;
	seen->from_client = from_client;
	assert_int_equal(weir_segment_read(packet, &seen->segment), WEIR_SEGMENT_READ);
	memcpy(seen->payload, seen->segment.payload,
	       RTE_MIN(seen->segment.payload_bytes, sizeof(seen->payload)));
	wire.seen++;
}

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct way *way = state;

	for (uint16_t i = 0; i < count; i++) {
		note(way->from_client, packets[i]);
		if ((wire.pass != NULL && !wire.pass(way->from_client, packets[i])) ||
		    happens(wire.lost)) {
			rte_pktmbuf_free(packets[i]);
			continue;
		}
		if (happens(wire.doubled)) {
			struct rte_mbuf *copy =
				rte_pktmbuf_copy(packets[i], packets[i]->pool, 0, UINT32_MAX);

			assert_non_null(copy);
			put(way, copy);
		}
		put(way, packets[i]);
	}
	return count;
}

static uint16_t
take_from(struct way *way, struct rte_mbuf **packets, uint16_t count)
{
	uint16_t taken = 0;

	for (; taken < count && way->count > 0; way->count--) {
		packets[taken++] = way->packets[way->first];
		way->first = (way->first + 1) % WIRE_PACKETS;
	}
	return taken;
}

static uint16_t
receive(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct way *sent = state;

	return take_from(&ways[sent->from_client], packets, count);
}

int
start_wire(void **state)
{
	return weir_test_eal(state);
}

int
make_ends(void **state)
{
	static const struct weir_queue_driver driver = {.receive = receive, .transmit = transmit};
	struct weir_queue queue = {
		.kind = WEIR_QUEUE_DRIVER, .driver = &driver, .driver_state = &ways[0]};
	struct weir_error error;

	(void)state;
	memset(&wire, 0, sizeof(wire));
	wire.random = 7;
	clients = weir_clients_create("clients", 0, &queue, 0, &error);
	queue.driver_state = &ways[1];
	servers = weir_servers_create("servers", 0, &queue, 1, &error);
	return clients != NULL && servers != NULL ? 0 : -1;
}

int
free_ends(void **state)
{
	struct rte_mbuf *packet;

	(void)state;
	weir_connections_clear();
	weir_clients_destroy(clients);
	weir_servers_destroy(servers);
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		while (take_from(&ways[i], &packet, 1) == 1)
			rte_pktmbuf_free(packet);
	}
	return 0;
}

int
make_ipv6_ends(void **state)
{
	int made = make_ends(state);

	wire.ipv6 = true;
	return made;
}

struct weir_connections_config
plain_config(void)
{
	return (struct weir_connections_config){
		.clients = {.port_id = 0,
			    .src_mac = {{2, 0, 0, 0, 0, 1}},
			    .dst_mac = {{2, 0, 0, 0, 0, 2}}},
		.servers = {.port_id = 1,
			    .src_mac = {{2, 0, 0, 0, 0, 2}},
			    .dst_mac = {{2, 0, 0, 0, 0, 1}}},
		/* 198.18.0.1 and 198.19.0.1, or behind these prefixes. */
		.ipv6 = wire.ipv6,
		.prefixes = {.peer = {0x20, 0x01, 0, 2, 0, 0, 0, 2},
			     .own = {0x20, 0x01, 0, 2, 0, 0, 0, 1}},
		.source = 0xc6120001,
		.source_count = 16,
		.source_port_first = 1024,
		.source_port_last = 2023,
		.destination = 0xc6130001,
		.destination_count = 1,
		.mss = wire.ipv6 ? WEIR_CONNECTION_IPV6_MSS_MAX : WEIR_CONNECTION_MSS_MAX,
		.retries = 3,
		.retransmit_ns = 200000000,
		.service_count = 1,
		.services = {{.port = 80,
			      .transactions = 1,
			      .weight = 1,
			      .request_bytes = 100,
			      .answer_bytes = 3000}},
		.seed = 1,
	};
}

void
configure_ends(const struct weir_connections_config *config)
{
	struct weir_error error = {0};

	if (weir_connections_configure(config, &error) < 0)
		fail_msg("%s", error.message);
}

static void
check_sums(const struct weir_connections_count *count)
{
	const struct weir_side_count *sides[] = {&count->clients, &count->servers};
	uint64_t of_services = 0;

	for (unsigned int i = 0; i < RTE_DIM(sides); i++) {
		uint64_t ended = sides[i]->completed + sides[i]->open;

		for (unsigned int why = 0; why < WEIR_FAILURES; why++)
			ended += sides[i]->failed[why];
		assert_int_equal(sides[i]->opened, ended);
	}
	for (unsigned int i = 0; i < count->service_count; i++)
		of_services += count->services[i].opened;
	assert_int_equal(count->clients.opened, of_services);
}

struct weir_connections_count
make_connections(const struct weir_connections_run *run, uint64_t most_ns)
{
	uint64_t step = STEP_NS * rte_get_tsc_hz() / 1000000000, now;
	struct weir_connections_count count;
	struct weir_error error = {0};

	if (weir_connections_start(run, &error) < 0)
		fail_msg("%s", error.message);
	/* Not the time now: whoever had the core meanwhile would make connections too late. */
	now = weir_clients_side()->wheel.start_tsc;
	for (uint64_t ns = 0; ns < most_ns; ns += STEP_NS, now += step) {
		clients->poll(clients, now);
		servers->poll(servers, now);
		if (weir_connections_poll() == WEIR_RUN_DONE)
			break;
	}
	weir_connections_counted(&count);
	check_sums(&count);
	return count;
}

struct last_bits *
source_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod_offset(packet, struct last_bits *, wire.ipv6 ? 34 : 26);
}

struct last_bits *
destination_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod_offset(packet, struct last_bits *, wire.ipv6 ? 50 : 30);
}

static uint16_t
transport_checksum(const void *ip, const void *l4)
{
	return wire.ipv6 ? rte_ipv6_udptcp_cksum(ip, l4) : rte_ipv4_udptcp_cksum(ip, l4);
}

void
set_checksums(struct rte_mbuf *packet)
{
	void *ip = rte_pktmbuf_mtod_offset(packet, void *, 14);
	void *l4 = rte_pktmbuf_mtod_offset(packet, void *, TRANSPORT_OFFSET);
	struct rte_ipv4_hdr *ipv4 = ip;
	const struct rte_ipv6_hdr *ipv6 = ip;

	if (!wire.ipv6) {
		ipv4->hdr_checksum = 0;
		ipv4->hdr_checksum = rte_ipv4_cksum(ipv4);
	}
	if ((wire.ipv6 ? ipv6->proto : ipv4->next_proto_id) == IPPROTO_TCP) {
		struct rte_tcp_hdr *tcp = l4;

		tcp->cksum = 0;
		tcp->cksum = transport_checksum(ip, tcp);
	} else {
		struct rte_udp_hdr *udp = l4;

		udp->dgram_cksum = 0;
		udp->dgram_cksum = transport_checksum(ip, udp);
	}
}

void
send_to_client(const struct weir_segment *segment)
{
	struct weir_link_header link =
		weir_link_header(&(const struct rte_ether_addr){{2, 0, 0, 0, 0, 2}},
				 &(const struct rte_ether_addr){{2, 0, 0, 0, 0, 1}}, 0);
	struct rte_mbuf *packet = rte_pktmbuf_alloc(weir_test_pool());
	struct weir_prefix_pair prefixes;

	assert_non_null(packet);
	if (segment->addresses != NULL)
		prefixes = weir_prefix_pair(segment->addresses + 16, segment->addresses);
	weir_segment_write(packet, &link, segment, segment->addresses != NULL ? &prefixes : NULL,
			   NULL, 0, 0);
	put(&ways[1], packet);
}
