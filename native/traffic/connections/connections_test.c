/* SPDX-License-Identifier: Apache-2.0 */
/* Clients and servers back to back, without and with faults on the wire. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "side.h"
#include "wire_fixture_test.h"

#define MS_NS 1000000ull
#define S_NS (1000 * MS_NS)
#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define PSH RTE_TCP_PSH_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

static const struct weir_connections_run one = {
	.rate = 1000, .duration_ns = 10 * MS_NS, .connections = 1, .drain_ns = 3600 * S_NS};
static const struct weir_connections_run thousand = {
	.rate = 10000, .duration_ns = 100 * MS_NS, .drain_ns = 3600 * S_NS};

/* --- without faults ----------------------------------------------------------------------------
 */

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
	count = make_connections(&one, S_NS);
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
		count = make_connections(&thousand, S_NS);
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
	count = make_connections(&one, S_NS);
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
a_client_may_close_with_a_reset(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.services[0].reset = true;
	configure_ends(&config);
	count = make_connections(&one, S_NS);
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
	count = make_connections(&thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_in_range(count.services[1].opened, 200, 300);
	assert_int_equal(count.services[1].transactions, 2 * count.services[1].completed);
	assert_int_equal(count.services[0].completed + count.services[1].completed, 1000);
	assert_int_equal(count.servers.opened, count.services[0].opened);
	assert_int_equal(count.clients.payload_bytes,
			 3000 * count.services[0].completed + 400 * count.services[1].completed);
}

/* --- with faults -------------------------------------------------------------------------------
 */

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
	count = make_connections(&thousand, 300 * S_NS);
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
	count = make_connections(&thousand, 60 * S_NS);
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
	count = make_connections(&one, S_NS);
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
	count = make_connections(&one, 10 * S_NS);
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
	count = make_connections(&one, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_RESET], 1);
	injected = FIN | ACK;
	count = make_connections(&one, 60 * S_NS);
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

#define TRANSLATED_ADDRESS 0xcb007101u /* 203.0.113.1 */
#define CLIENTS_ADDRESS 0xc6120001u    /* 198.18.0.1 */

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
	count = make_connections(&thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.servers.completed, 1000);
	assert_int_equal(count.clients.not_ours + count.servers.not_ours, 0);
}

/* --- timers ------------------------------------------------------------------------------------
 */

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

/* --- IPv6 --------------------------------------------------------------------------------------
 */

#define PREFIX_AT(packet, offset) rte_pktmbuf_mtod_offset(packet, uint8_t *, 14 + (offset))
#define SOURCE_PREFIX 8
#define DESTINATION_PREFIX 24

/* 2001:2:0:1::c612:1 to 2001:2:0:2::c613:1, and back. */
static bool
compare_addresses(bool from_client, struct rte_mbuf *packet)
{
	static const uint8_t ends[2][16] = {
		{0x20, 0x01, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0xc6, 0x12, 0, 1},
		{0x20, 0x01, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0xc6, 0x13, 0, 1}};

	assert_memory_equal(PREFIX_AT(packet, -2), "\x86\xdd\x60", 3);
	assert_memory_equal(PREFIX_AT(packet, SOURCE_PREFIX), ends[!from_client], 16);
	assert_memory_equal(PREFIX_AT(packet, DESTINATION_PREFIX), ends[from_client], 16);
	return true;
}

static void
prefixes_and_addresses_are_as_configured(void **state)
{
	const struct weir_connections_config config = plain_config();

	(void)state;
	configure_ends(&config);
	wire.pass = compare_addresses;
	assert_int_equal(make_connections(&one, S_NS).clients.completed, 1);
}

/* Each client's connections get a prefix of their own on the way, and one address. */
static bool
translate_prefix(bool from_client, struct rte_mbuf *packet)
{
	struct last_bits *mine = from_client ? source_of(packet) : destination_of(packet);
	uint8_t *prefix = PREFIX_AT(packet, from_client ? SOURCE_PREFIX : DESTINATION_PREFIX);

	if (from_client) {
		prefix[8] = (uint8_t)(rte_be_to_cpu_32(mine->word) - CLIENTS_ADDRESS);
		prefix[7] = 9;
		mine->word = rte_cpu_to_be_32(TRANSLATED_ADDRESS);
	} else {
		mine->word = rte_cpu_to_be_32(CLIENTS_ADDRESS + prefix[8]);
		prefix[8] = 0;
		prefix[7] = 1;
	}
	set_checksums(packet);
	return true;
}

static void
servers_learn_prefixes_and_tell_equal_addresses_behind_them_apart(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.services[0].transactions = 2;
	configure_ends(&config);
	wire.pass = translate_prefix;
	count = make_connections(&thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.servers.completed, 1000);
	assert_int_equal(count.clients.not_ours + count.servers.not_ours, 0);
}

/* Each SYN comes from a prefix of its own. */
static bool
scatter_prefixes(bool from_client, struct rte_mbuf *packet)
{
	static uint16_t next;

	if (!from_client)
		return false;
	memcpy(PREFIX_AT(packet, SOURCE_PREFIX), &next, sizeof(next));
	next++;
	set_checksums(packet);
	return true;
}

static void
packets_of_more_prefixes_than_there_is_room_for_are_counted(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.retries = 0;
	configure_ends(&config);
	wire.pass = scatter_prefixes;
	count = make_connections(&thousand, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_NO_ANSWER], 1000);
	assert_int_equal(count.servers.opened, WEIR_PREFIX_PAIRS_MAX);
	/* The resets of the clients that give up are from other prefixes, too. */
	assert_int_equal(count.servers.no_room, 2 * 1000 - WEIR_PREFIX_PAIRS_MAX);
}

static bool
answer_from_elsewhere(bool from_client, struct rte_mbuf *packet)
{
	if (!from_client) {
		PREFIX_AT(packet, SOURCE_PREFIX)[0] ^= 1;
		set_checksums(packet);
	}
	return true;
}

static void
answers_of_another_prefix_are_of_no_connection(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.retries = 0;
	configure_ends(&config);
	wire.pass = answer_from_elsewhere;
	count = make_connections(&one, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_NO_ANSWER], 1);
	assert_true(count.clients.not_ours > 0);
	assert_int_equal(count.clients.not_ours, count.clients.rx_packets);
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
	count = make_connections(&one, 60 * S_NS);
	assert_int_equal(count.clients.completed, wire.ipv6 ? 0 : 1);
	assert_int_equal(count.servers.bad_checksum, wire.ipv6 ? 1 : 0);
}

#define OPTIONS_BYTES 8

/* A header of destination options (RFC 8200, 4.6) comes in front of TCP's, which knows nothing of
 * it. */
static bool
put_options_in(bool from_client, struct rte_mbuf *packet)
{
	static const uint8_t options[OPTIONS_BYTES] = {IPPROTO_TCP, 0, 1, 4};
	uint8_t *frame;
	struct rte_ipv6_hdr *ip;

	(void)from_client;
	assert_non_null(rte_pktmbuf_prepend(packet, OPTIONS_BYTES));
	frame = rte_pktmbuf_mtod(packet, uint8_t *);
	memmove(frame, frame + OPTIONS_BYTES, 14 + sizeof(*ip));
	memcpy(frame + 14 + sizeof(*ip), options, sizeof(options));
	ip = (struct rte_ipv6_hdr *)(frame + 14);
	ip->proto = IPPROTO_DSTOPTS;
	ip->payload_len = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->payload_len) + OPTIONS_BYTES);
	return true;
}

static void
extension_headers_are_no_part_of_a_checksum(void **state)
{
	const struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	configure_ends(&config);
	wire.pass = put_options_in;
	count = make_connections(&thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.clients.bad_checksum + count.servers.bad_checksum, 0);
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

int
main(void)
{
#define IPV4(name) cmocka_unit_test_setup_teardown(name, make_ends, free_ends)
#define IPV6(name)                                                                                 \
	{                                                                                          \
#name "_ipv6", name, make_ipv6_ends, free_ends, NULL                               \
	}
#define BOTH(name) IPV4(name), IPV6(name)
	const struct CMUnitTest tests[] = {
		BOTH(a_connection_is_made_of_these_packets),
		BOTH(every_connection_is_accounted_for),
		BOTH(transactions_follow_each_other_after_a_time_to_think),
		BOTH(connections_are_held_until_the_end),
		BOTH(a_client_may_close_with_a_reset),
		BOTH(services_have_their_share),
		BOTH(what_is_lost_doubled_or_swapped_comes_again),
		BOTH(without_an_answer_connections_fail),
		BOTH(changed_bytes_are_noticed),
		BOTH(damaged_packets_do_not_count),
		BOTH(resets_and_early_ends_are_failures),
		BOTH(who_has_no_port_left_opens_nothing),
		BOTH(addresses_may_be_translated_on_the_way),
		BOTH(datagrams_without_a_checksum_count_over_ipv4_alone),
		BOTH(what_does_not_fit_a_packet_is_refused),
		IPV6(prefixes_and_addresses_are_as_configured),
		IPV6(servers_learn_prefixes_and_tell_equal_addresses_behind_them_apart),
		IPV6(packets_of_more_prefixes_than_there_is_room_for_are_counted),
		IPV6(answers_of_another_prefix_are_of_no_connection),
		IPV6(extension_headers_are_no_part_of_a_checksum),
		cmocka_unit_test(timers_expire_once_in_their_own_round),
		cmocka_unit_test(a_piece_longer_than_any_that_is_sent_is_compared_whole),
	};

	return cmocka_run_group_tests_name("connections", tests, start_wire, NULL);
}
