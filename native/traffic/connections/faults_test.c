/* SPDX-License-Identifier: Apache-2.0 */
/* Clients and servers back to back, with faults on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "side.h"
#include "wire_fixture_test.h"

#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

static void
what_is_lost_doubled_or_swapped_comes_again(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.retries = 7;
	config.service_count = 2;
	config.services[0].answer_bytes = 50000;
	config.services[1] =
		(struct weir_service){.udp = true,
				      .port = 53,
				      .transactions = 3,
				      .weight = 1,
				      .request_bytes = 40,
				      .answer_bytes = weir_datagram_bytes_max(wire.ipv6)};
	configure_ends(&config);
	wire.lost = 0.02;
	wire.doubled = 0.02;
	wire.swapped = 0.02;
	count = make_connections(&wire_thousand, 300 * S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.clients.payload_bytes,
			 50000 * count.services[0].completed +
				 3 * config.services[1].answer_bytes * count.services[1].completed);
	/* It ends with the last client: a server whose last acknowledgement was lost then still
	 * waits. */
	assert_int_equal(count.servers.completed + count.servers.open, count.services[0].completed);
	assert_in_range(count.servers.open, 0, 20);
	assert_true(count.clients.retransmissions > 0);
	assert_true(count.servers.retransmissions > 0);
	assert_true(count.clients.out_of_order > 0);
}

static bool
to_servers_alone(bool from_client, struct rte_mbuf *packet)
{
	(void)packet;
	return from_client;
}

static void
without_an_answer_connections_fail(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	wire.pass = to_servers_alone;
	count = make_connections(&wire_thousand, 60 * S_NS);
	assert_int_equal(count.clients.opened, 1000);
	assert_int_equal(count.clients.established, 0);
	assert_int_equal(count.clients.failed[WEIR_FAILED_NO_ANSWER], 1000);
	assert_int_equal(count.clients.retransmissions, 3 * 1000);
	/* The reset of the client that gives up, or their own patience. */
	assert_int_equal(count.servers.open, 0);
}

/* The first answer's first byte becomes another, its checksum right. */
static bool
change_answers(bool from_client, struct rte_mbuf *packet)
{
	if (!from_client && packet->data_len > 100) {
		*rte_pktmbuf_mtod_offset(packet, uint8_t *, PAYLOAD_OFFSET) ^= 1;
		set_checksums(packet);
	}
	return true;
}

static void
changed_bytes_are_noticed(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	wire.pass = change_answers;
	count = make_connections(&wire_one, S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_BAD_PAYLOAD], 1);
	assert_int_equal(count.servers.failed[WEIR_FAILED_RESET], 1);
}

static unsigned int damaged;

/* Without its checksum it is as if it had not come. */
static bool
damage_first(bool from_client, struct rte_mbuf *packet)
{
	if (!from_client && packet->data_len > 100 && damaged++ == 0)
		*rte_pktmbuf_mtod_offset(packet, uint8_t *, PAYLOAD_OFFSET) ^= 1;
	return true;
}

static void
damaged_packets_do_not_count(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	damaged = 0;
	wire.pass = damage_first;
	count = make_connections(&wire_one, 10 * S_NS);
	assert_int_equal(count.clients.completed, 1);
	assert_int_equal(count.clients.bad_checksum, 1);
	assert_true(count.servers.retransmissions > 0);
}

static uint8_t injected; /* flags */

/* In place of the answer. */
static bool
inject(bool from_client, struct rte_mbuf *packet)
{
	struct weir_segment segment;

	if (from_client || packet->data_len <= 100)
		return true;
	assert_int_equal(weir_segment_read(packet, &segment), WEIR_SEGMENT_READ);
	segment.flags = injected;
	segment.payload_bytes = 0;
	send_to_client(&segment);
	return false;
}

static void
resets_and_early_ends_are_failures(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	wire.pass = inject;
	injected = RST | ACK;
	count = make_connections(&wire_one, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_RESET], 1);
	injected = FIN | ACK;
	count = make_connections(&wire_one, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_CLOSED_EARLY], 1);
}

static void
who_has_no_port_left_opens_nothing(void **state)
{
	struct weir_connections_config config = plain_config();
	const struct weir_connections_run held = {
		.rate = 10000, .duration_ns = 50 * MS_NS, .hold = true, .drain_ns = 3600 * S_NS};
	struct weir_connections_count count;

	(void)state;
	config.source_count = 1;
	config.source_port_last = config.source_port_first + 99;
	config.services[0].think_ns = 10 * MS_NS;
	configure_ends(&config);
	count = make_connections(&held, S_NS);
	assert_int_equal(count.clients.opened, 500);
	assert_int_equal(count.clients.completed, 100);
	assert_int_equal(count.clients.failed[WEIR_FAILED_OUT_OF_PORTS], 400);
}

/* Sources become one address, each with a port of its own, as NAT does it. */
static bool
translate(bool from_client, struct rte_mbuf *packet)
{
	struct last_bits *source = source_of(packet), *destination = destination_of(packet);
	struct rte_udp_hdr *ports = rte_pktmbuf_mtod_offset(
		packet, struct rte_udp_hdr *, TRANSPORT_OFFSET); /* TCP's are where UDP's are */

	if (from_client) {
		uint32_t address = rte_be_to_cpu_32(source->word);
		uint16_t port = rte_be_to_cpu_16(ports->src_port);

		assert_int_not_equal(address, TRANSLATED_ADDRESS);
		ports->src_port = rte_cpu_to_be_16(
			(uint16_t)(20000 + (port - 1024) * 16 + address - CLIENTS_ADDRESS));
		source->word = rte_cpu_to_be_32(TRANSLATED_ADDRESS);
	} else {
		uint16_t known = rte_be_to_cpu_16(ports->dst_port) - 20000;

		ports->dst_port = rte_cpu_to_be_16((uint16_t)(1024 + known / 16));
		destination->word = rte_cpu_to_be_32(CLIENTS_ADDRESS + known % 16);
	}
	set_checksums(packet);
	return true;
}

static void
addresses_may_be_translated_on_the_way(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.services[0].transactions = 2;
	configure_ends(&config);
	wire.pass = translate;
	count = make_connections(&wire_thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.servers.completed, 1000);
	assert_int_equal(count.clients.not_ours + count.servers.not_ours, 0);
}

/* A datagram whose checksum says that there is none. */
static bool
without_checksum(bool from_client, struct rte_mbuf *packet)
{
	if (from_client)
		rte_pktmbuf_mtod_offset(packet, struct rte_udp_hdr *, TRANSPORT_OFFSET)
			->dgram_cksum = 0;
	return true;
}

static void
datagrams_without_a_checksum_count_over_ipv4_alone(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.retries = 0;
	config.services[0].udp = true;
	config.services[0].answer_bytes = 100;
	configure_ends(&config);
	wire.pass = without_checksum;
	count = make_connections(&wire_one, 60 * S_NS);
	assert_int_equal(count.clients.completed, wire.ipv6 ? 0 : 1);
	assert_int_equal(count.servers.bad_checksum, wire.ipv6 ? 1 : 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(what_is_lost_doubled_or_swapped_comes_again),
		BOTH(without_an_answer_connections_fail),
		BOTH(changed_bytes_are_noticed),
		BOTH(damaged_packets_do_not_count),
		BOTH(resets_and_early_ends_are_failures),
		BOTH(who_has_no_port_left_opens_nothing),
		BOTH(addresses_may_be_translated_on_the_way),
		BOTH(datagrams_without_a_checksum_count_over_ipv4_alone),
	};

	return cmocka_run_group_tests_name("connections-faults", tests, start_wire, NULL);
}
