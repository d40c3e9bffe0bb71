/* SPDX-License-Identifier: Apache-2.0 */
/* Connections over IPv6: prefixes, and headers in front of TCP. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "side.h"
#include "wire_fixture_test.h"

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
	assert_int_equal(make_connections(&wire_one, S_NS).clients.completed, 1);
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
	count = make_connections(&wire_thousand, S_NS);
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
	count = make_connections(&wire_thousand, 60 * S_NS);
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
	count = make_connections(&wire_one, 60 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_NO_ANSWER], 1);
	assert_true(count.clients.not_ours > 0);
	assert_int_equal(count.clients.not_ours, count.clients.rx_packets);
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
	count = make_connections(&wire_thousand, S_NS);
	assert_int_equal(count.clients.completed, 1000);
	assert_int_equal(count.clients.bad_checksum + count.servers.bad_checksum, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IPV6(prefixes_and_addresses_are_as_configured),
		IPV6(servers_learn_prefixes_and_tell_equal_addresses_behind_them_apart),
		IPV6(packets_of_more_prefixes_than_there_is_room_for_are_counted),
		IPV6(answers_of_another_prefix_are_of_no_connection),
		IPV6(extension_headers_are_no_part_of_a_checksum),
	};

	return cmocka_run_group_tests_name("connections-ipv6", tests, start_wire, NULL);
}
