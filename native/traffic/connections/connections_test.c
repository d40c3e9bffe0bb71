/* SPDX-License-Identifier: Apache-2.0 */
/* Clients and servers back to back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_tcp.h>

#include "side.h"
#include "wire_fixture_test.h"

#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define PSH RTE_TCP_PSH_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

static void
a_connection_is_made_of_these_packets(void **state)
{
	const struct weir_connections_config config = plain_config();
	const uint16_t mss = config.mss, rest = (uint16_t)(3000 - 2 * mss);
	const struct {
		bool from_client;
		uint8_t flags;
		uint16_t bytes;
	} expected[] = {
		{true, SYN, 0},		  {false, SYN | ACK, 0}, {true, ACK, 0},
		{true, ACK | PSH, 100},	  {false, ACK, mss},	 {false, ACK, mss},
		{false, ACK | PSH, rest}, {true, ACK, 0},	 {true, ACK | FIN, 0},
		{false, ACK | FIN, 0},	  {true, ACK, 0},
	};
	struct weir_connections_count count;
	uint32_t first;

	(void)state;
	configure_ends(&config);
	count = make_connections(&wire_one, S_NS);
	assert_int_equal(wire.seen, RTE_DIM(expected));
	first = wire.trace[0].segment.sequence;
	for (unsigned int i = 0; i < wire.seen; i++) {
		assert_int_equal(wire.trace[i].from_client, expected[i].from_client);
		assert_int_equal(wire.trace[i].segment.flags, expected[i].flags);
		assert_int_equal(wire.trace[i].segment.payload_bytes, expected[i].bytes);
	}
	assert_int_equal(wire.trace[1].segment.acknowledged, first + 1);
	assert_int_equal(wire.trace[3].segment.sequence, first + 1);
	assert_int_equal(wire.trace[4].segment.acknowledged, first + 101);
	assert_int_equal(wire.trace[8].segment.sequence, first + 101);
	assert_int_equal(wire.trace[8].segment.acknowledged,
			 wire.trace[1].segment.sequence + 1 + 3000);
	assert_memory_equal(wire.trace[3].payload, "WEIR\0\0\0d\0\0\13\270", 12);
	assert_int_equal(count.intended, 1);
	assert_int_equal(count.clients.completed, 1);
	assert_int_equal(count.clients.payload_bytes, 3000);
	assert_int_equal(count.clients.tx_packets, 6);
	assert_int_equal(count.clients.rx_packets, 5);
	/* Frames of at least 64 bytes; the SYN has an option more. */
	assert_int_equal(count.clients.tx_bytes, wire.ipv6 ? 6 * 78 + 100 + 4 : 5 * 64 + 100 + 58);
	assert_int_equal(count.servers.completed, 1);
	assert_int_equal(count.servers.payload_bytes, 100);
	assert_int_equal(count.connect.count, 1);
	assert_int_equal(count.transaction.count, 1);
}

static void
every_connection_is_accounted_for(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	for (unsigned int run = 0; run < 3; run++) {
		count = make_connections(&wire_thousand, S_NS);
		assert_int_equal(count.intended, 1000);
		assert_int_equal(count.clients.opened, 1000);
		assert_int_equal(count.clients.established, 1000);
		assert_int_equal(count.clients.completed, 1000);
		assert_int_equal(count.clients.transactions, 1000);
		assert_int_equal(count.clients.payload_bytes, 3000 * 1000);
		assert_int_equal(count.clients.retransmissions, 0);
		assert_int_equal(count.clients.rx_packets, count.servers.tx_packets);
		assert_int_equal(count.clients.tx_packets, count.servers.rx_packets);
		assert_int_equal(count.servers.completed, 1000);
		assert_int_equal(count.servers.payload_bytes, 100 * 1000);
		assert_int_equal(count.transaction.count, 1000);
	}
}

static void
transactions_follow_each_other_after_a_time_to_think(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.services[0].transactions = 5;
	config.services[0].think_ns = 10 * MS_NS;
	config.services[0].request_bytes = 5000;
	config.services[0].answer_bytes = 100000;
	configure_ends(&config);
	count = make_connections(&wire_one, S_NS);
	assert_int_equal(count.clients.completed, 1);
	assert_int_equal(count.clients.transactions, 5);
	assert_int_equal(count.clients.payload_bytes, 5 * 100000);
	assert_int_equal(count.servers.payload_bytes, 5 * 5000);
	assert_int_equal(count.clients.retransmissions + count.servers.retransmissions, 0);
}

static void
connections_are_held_until_the_end(void **state)
{
	struct weir_connections_config config = plain_config();
	const struct weir_connections_run held = {.rate = 100000,
						  .duration_ns = 200 * MS_NS,
						  .connections = 2000,
						  .hold = true,
						  .drain_ns = 3600 * S_NS};
	struct weir_connections_count count;

	(void)state;
	config.services[0].think_ns = 50 * MS_NS;
	configure_ends(&config);
	count = make_connections(&held, S_NS);
	assert_int_equal(count.intended, 2000);
	assert_int_equal(count.open_most, 2000);
	assert_int_equal(count.clients.completed, 2000);
	assert_true(count.clients.transactions >= 3 * 2000);
}

static void
held_connections_close_after_the_end_however_long_they_would_go_on(void **state)
{
	const struct {
		uint32_t transactions;
		uint64_t think_ns;
	} services[] = {{10, 50 * MS_NS}, {1, 3600 * S_NS}, {10, 3600 * S_NS}};
	struct weir_connections_config config = plain_config();
	const struct weir_connections_run held = {.rate = 1000,
						  .duration_ns = 200 * MS_NS,
						  .connections = 100,
						  .hold = true,
						  .drain_ns = 8 * S_NS};
	struct weir_connections_count count;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(services); i++) {
		config.services[0].transactions = services[i].transactions;
		config.services[0].think_ns = services[i].think_ns;
		configure_ends(&config);
		/* What thinks then closes in the first half of the time for it. */
		count = make_connections(&held, held.duration_ns + held.drain_ns / 2 + 10 * MS_NS);
		assert_int_equal(count.open_most, 100);
		assert_int_equal(count.clients.completed, 100);
		assert_int_equal(count.clients.open, 0);
		assert_in_range(count.clients.transactions, 100, 4 * 100);
	}
}

static void
a_client_may_close_with_a_reset(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.services[0].reset = true;
	configure_ends(&config);
	count = make_connections(&wire_one, S_NS);
	assert_int_equal(wire.trace[wire.seen - 1].segment.flags, RST | ACK);
	assert_int_equal(count.clients.completed, 1);
}

static void
services_have_their_share(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.service_count = 2;
	config.services[0].weight = 3;
	config.services[1] = (struct weir_service){.udp = true,
						   .port = 53,
						   .transactions = 2,
						   .weight = 1,
						   .request_bytes = 40,
						   .answer_bytes = 200};
	configure_ends(&config);
	count = make_connections(&wire_thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_in_range(count.services[1].opened, 200, 300);
	assert_int_equal(count.services[1].transactions, 2 * count.services[1].completed);
	assert_int_equal(count.services[0].completed + count.services[1].completed, 1000);
	assert_int_equal(count.servers.opened, count.services[0].opened);
	assert_int_equal(count.clients.payload_bytes,
			 3000 * count.services[0].completed + 400 * count.services[1].completed);
}

static void
what_does_not_fit_a_packet_is_refused(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_error error = {0};

	(void)state;
	config.mss = WEIR_CONNECTION_MSS_MAX;
	assert_int_equal(weir_connections_configure(&config, &error), wire.ipv6 ? -1 : 0);
	config = plain_config();
	config.services[0].udp = true;
	config.services[0].answer_bytes = WEIR_DATAGRAM_BYTES_MAX;
	assert_int_equal(weir_connections_configure(&config, &error), wire.ipv6 ? -1 : 0);
	config.services[0].answer_bytes++;
	assert_int_equal(weir_connections_configure(&config, &error), -1);
}

static void
timers_expire_once_in_their_own_round(void **state)
{
	static struct weir_link links[3];
	static struct weir_wheel wheel;
	const uint64_t hz = 1000000000, tick = 1 << 19; /* below a millisecond */
	uint32_t numbers[4];

	(void)state;
	weir_wheel_begin(&wheel, links, sizeof(links[0]), hz, 0);
	assert_int_equal(1u << wheel.tick_shift, tick);
	weir_wheel_arm(&wheel, 0, 10 * tick);
	weir_wheel_arm(&wheel, 1, 10 * tick);
	weir_wheel_arm(&wheel, 2, (10 + WEIR_WHEEL_TICKS) * tick); /* the same list */
	assert_int_equal(weir_wheel_expire(&wheel, 10 * tick, numbers, 4), 0);
	assert_int_equal(weir_wheel_expire(&wheel, 12 * tick, numbers, 1), 1);
	assert_int_equal(numbers[0], 1);
	weir_wheel_disarm(&wheel, 0);
	assert_int_equal(weir_wheel_expire(&wheel, 20 * tick, numbers, 4), 0);
	assert_int_equal(weir_wheel_expire(&wheel, (WEIR_WHEEL_TICKS + 10) * tick, numbers, 4), 0);
	assert_int_equal(weir_wheel_expire(&wheel, (WEIR_WHEEL_TICKS + 12) * tick, numbers, 4), 1);
	assert_int_equal(numbers[0], 2);
}

static void
a_piece_longer_than_any_that_is_sent_is_compared_whole(void **state)
{
	enum { BYTES = 9000, OFFSET = 77, SALT = 9 };
	uint8_t *piece = malloc(BYTES); /* nothing behind it may be read */

	(void)state;
	assert_non_null(piece);
	for (uint32_t i = 0; i < BYTES; i++)
		piece[i] = *weir_pattern_at(OFFSET + i, SALT);
	assert_true(weir_pattern_matches(piece, BYTES, OFFSET, SALT));
	assert_true(weir_pattern_matches(piece, 0, OFFSET, SALT));
	for (uint32_t i = 0; i < BYTES; i += 499) {
		piece[i] ^= 1;
		assert_false(weir_pattern_matches(piece, BYTES, OFFSET, SALT));
		piece[i] ^= 1;
	}
	piece[BYTES - 1] ^= 1;
	assert_false(weir_pattern_matches(piece, BYTES, OFFSET, SALT));
	free(piece);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_connection_is_made_of_these_packets),
		BOTH(every_connection_is_accounted_for),
		BOTH(transactions_follow_each_other_after_a_time_to_think),
		BOTH(connections_are_held_until_the_end),
		BOTH(held_connections_close_after_the_end_however_long_they_would_go_on),
		BOTH(a_client_may_close_with_a_reset),
		BOTH(services_have_their_share),
		BOTH(what_does_not_fit_a_packet_is_refused),
		cmocka_unit_test(timers_expire_once_in_their_own_round),
		cmocka_unit_test(a_piece_longer_than_any_that_is_sent_is_compared_whole),
	};

	return cmocka_run_group_tests_name("connections", tests, start_wire, NULL);
}
