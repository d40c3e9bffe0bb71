/* SPDX-License-Identifier: Apache-2.0 */
/* ICMP errors (RFC 5508) and fragments (RFC 4787, REQ-14). */
#include "nat_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>

#include <rte_icmp.h>
#include <rte_udp.h>

#define UDP IPPROTO_UDP
#define TCP IPPROTO_TCP
#define ICMP IPPROTO_ICMP
#define EXTERNAL "203.0.113.1"
#define ROUTER "192.0.2.9"
#define IP_AT 14
#define INNER_AT (IP_AT + 20 + 8)

/* An ICMP error about a packet: `inner` as it was where the error arose, `inner_bytes` of it. */
struct error {
	const char *src, *dst;
	uint8_t type;
	struct weir_test_ipv4 inner;
	uint16_t inner_bytes; /* 0: all */
};

static size_t
error_frame(const struct error *error, uint8_t *frame)
{
	uint8_t inner[WEIR_TEST_FRAME_BYTES];
	uint16_t all;

	weir_test_ipv4_frame(&error->inner, inner);
	all = inner[IP_AT + 2] << 8 | inner[IP_AT + 3];
	return weir_test_ipv4_frame(
		&(struct weir_test_ipv4){
			.src = error->src,
			.dst = error->dst,
			.protocol = ICMP,
			.icmp_type = error->type != 0 ? error->type : 3,
			.icmp_code = 1,
			.payload = inner + IP_AT,
			.payload_bytes = error->inner_bytes != 0 ? error->inner_bytes : all,
		},
		frame);
}

/* Passes the error; what leaves must have the packet `expected` inside, byte for byte, checksums
 * included, and the type and code that it had. Returns what is seen outside. */
static struct seen
pass_error(enum weir_direction direction, const struct error *error,
	   const struct weir_test_ipv4 *expected)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES], inner[WEIR_TEST_FRAME_BYTES];
	size_t bytes = error_frame(error, frame);
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_nat, nat, direction, weir_test_packet(frame, bytes),
			      now_s * rte_get_tsc_hz());
	struct seen seen = {.drop = outcome.drop_reason, .egress = outcome.egress};
	const uint8_t *left;
	uint16_t inner_bytes;

	if (outcome.packet == NULL)
		return seen;
	left = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(left, outcome.packet->pkt_len));
	assert_memory_equal(left + IP_AT + 20, frame + IP_AT + 20, 2);
	weir_test_ipv4_frame(expected, inner);
	inner_bytes = (left[IP_AT + 2] << 8 | left[IP_AT + 3]) - 28;
	assert_memory_equal(left + INNER_AT, inner + IP_AT, inner_bytes);
	inet_ntop(AF_INET, left + IP_AT + 12, seen.source, sizeof(seen.source));
	inet_ntop(AF_INET, left + IP_AT + 16, seen.destination, sizeof(seen.destination));
	rte_pktmbuf_free(outcome.packet);
	return seen;
}

static void
begin(void)
{
	START({"external", EXTERNAL "/32"}, {"hairpin_output", "1"});
}

static uint16_t
map(uint8_t protocol, const char *inside, uint16_t port)
{
	return port_in(leaves_from(protocol, inside, port, REMOTE, 80, ACK));
}

/* RFC 5508, REQ-4. */
static void
test_an_error_from_outside_reaches_the_host_whose_packet_it_is_about(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, ICMP};

	(void)state;
	begin();
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		map(protocols[i], OTHER_INSIDE, 5000);
		struct error error = {
			.src = ROUTER,
			.dst = EXTERNAL,
			.inner = {.src = EXTERNAL,
				  .dst = REMOTE,
				  .protocol = protocols[i],
				  .dst_port = 80},
		};
		struct weir_test_ipv4 sent = error.inner;
		struct seen seen;

		error.inner.src_port = map(protocols[i], INSIDE, 5000);
		sent.src = INSIDE;
		sent.src_port = 5000;
		seen = pass_error(WEIR_INBOUND, &error, &sent);
		assert_null(seen.drop);
		assert_string_equal(seen.source, ROUTER);
		assert_string_equal(seen.destination, INSIDE);
	}
}

/* RFC 5508, REQ-5. */
static void
test_an_error_from_inside_is_about_what_the_remote_sent(void **state)
{
	struct error error = {
		.src = INSIDE,
		.dst = REMOTE,
		.inner = {.src = REMOTE, .src_port = 80, .dst = INSIDE, .dst_port = 5000},
	};
	struct weir_test_ipv4 sent = error.inner;
	struct seen seen;

	(void)state;
	begin();
	map(UDP, OTHER_INSIDE, 5000);
	sent.dst = EXTERNAL;
	sent.dst_port = map(UDP, INSIDE, 5000);
	seen = pass_error(WEIR_OUTBOUND, &error, &sent);
	assert_null(seen.drop);
	assert_string_equal(seen.source, EXTERNAL);
	assert_string_equal(seen.destination, REMOTE);
}

/* RFC 5508, REQ-7 and 7a. */
static void
test_an_error_about_a_hairpinned_packet_goes_back_inside(void **state)
{
	struct error error = {
		.src = OTHER_INSIDE,
		.dst = EXTERNAL,
		.inner = {.src = EXTERNAL, .dst = OTHER_INSIDE, .dst_port = 6000},
	};
	struct weir_test_ipv4 sent = {.src = INSIDE, .src_port = 5000, .dst = EXTERNAL};
	struct seen seen;

	(void)state;
	begin();
	error.inner.src_port = map(UDP, INSIDE, 5000);
	sent.dst_port = map(UDP, OTHER_INSIDE, 6000);
	seen = pass_error(WEIR_OUTBOUND, &error, &sent);
	assert_null(seen.drop);
	assert_string_equal(seen.source, EXTERNAL);
	assert_string_equal(seen.destination, INSIDE);
	assert_int_equal(seen.egress, 1);
}

static void
test_eight_bytes_of_the_transport_inside_are_enough(void **state)
{
	struct error error = {
		.src = ROUTER,
		.dst = EXTERNAL,
		.type = 11,
		.inner = {.src = EXTERNAL, .dst = REMOTE, .dst_port = 80, .payload_bytes = 100},
		.inner_bytes = 28,
	};
	struct weir_test_ipv4 sent = error.inner;

	(void)state;
	begin();
	error.inner.src_port = map(UDP, INSIDE, 5000);
	sent.src = INSIDE;
	sent.src_port = 5000;
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
	error.inner_bytes = 27;
	assert_string_equal(pass_error(WEIR_INBOUND, &error, &sent).drop, "icmp");
}

/* RFC 5508, REQ-3b. */
static void
test_ip_options_inside_are_traversed(void **state)
{
	struct error error = {
		.src = ROUTER,
		.dst = EXTERNAL,
		.inner = {.src = EXTERNAL, .dst = REMOTE, .dst_port = 80, .option_bytes = 8},
	};
	struct weir_test_ipv4 sent = error.inner;

	(void)state;
	begin();
	error.inner.src_port = map(UDP, INSIDE, 5000);
	sent.src = INSIDE;
	sent.src_port = 5000;
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
}

/* RFC 5508, REQ-3 and 3a; REQ-4: no mapping. */
static void
test_a_damaged_error_or_one_about_no_mapping_is_dropped(void **state)
{
	struct error error = {
		.src = ROUTER,
		.dst = EXTERNAL,
		.inner = {.src = EXTERNAL, .dst = REMOTE, .dst_port = 80},
	};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	begin();
	error.inner.src_port = map(UDP, INSIDE, 5000);
	bytes = error_frame(&error, frame);
	frame[IP_AT + 22] ^= 1; /* its checksum */
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
	frame[INNER_AT + 10] ^= 1; /* that of the IP header inside; the message's is right again */
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
	error.inner.src_port++;
	bytes = error_frame(&error, frame);
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
}

/* RFC 5508, REQ-6; RFC 4787, REQ-12. */
static void
test_an_error_neither_ends_nor_refreshes_a_mapping(void **state)
{
	struct error error = {
		.src = ROUTER,
		.dst = EXTERNAL,
		.inner = {.src = EXTERNAL, .dst = REMOTE, .dst_port = 80},
	};
	struct weir_test_ipv4 sent = error.inner;

	(void)state;
	begin();
	error.inner.src_port = map(UDP, INSIDE, 5000);
	sent.src = INSIDE;
	sent.src_port = 5000;
	wait_s(200);
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
	assert_int_equal(map(UDP, INSIDE, 5000), error.inner.src_port);
	wait_s(200);
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
	wait_s(101);
	assert_string_equal(pass_error(WEIR_INBOUND, &error, &sent).drop, "icmp");
}

static void
test_other_icmp_is_dropped(void **state)
{
	(void)state;
	begin();
	assert_string_equal(
		pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.protocol = ICMP, .icmp_type = 13})
			.drop,
		"icmp");
}

static struct weir_test_ipv4
fragment(uint16_t identification, uint16_t offset_bytes)
{
	return (struct weir_test_ipv4){
		.src = INSIDE,
		.src_port = 5000,
		.dst = REMOTE,
		.identification = identification,
		.fragment_offset_bytes = offset_bytes,
		.more_fragments = offset_bytes == 0,
		.payload_bytes = 64,
	};
}

static void
test_later_fragments_follow_the_first_in_both_directions(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	begin();
	map(UDP, OTHER_INSIDE, 5000);
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	assert_string_equal(pass(WEIR_OUTBOUND, &later).source, EXTERNAL ":0");
	first.dst_port = map(UDP, INSIDE, 5000);
	first.src = later.src = REMOTE;
	first.dst = later.dst = EXTERNAL;
	assert_string_equal(pass(WEIR_INBOUND, &first).destination, INSIDE ":5000");
	assert_string_equal(pass(WEIR_INBOUND, &later).destination, INSIDE ":0");
}

static void
test_a_fragment_before_its_first_is_dropped_and_counted(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	begin();
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "fragment_unknown");
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	later.identification = 8;
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "fragment_unknown");
	later.identification = 7;
	now_s += 61;
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "fragment_unknown");
}

static void
test_fragments_of_a_mapping_that_ended_are_not_known(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	START({"external", EXTERNAL "/32"}, {"udp_timeout_s", "1"});
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	wait_s(3);
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "fragment_unknown");
}

/* RFC 4787, REQ-14a. */
static void
test_a_flood_of_first_fragments_stays_within_its_memory(void **state)
{
	(void)state;
	START({"external", EXTERNAL "/32"}, {"fragments", "4"});
	for (uint16_t id = 1; id <= 1000; id++) {
		struct weir_test_ipv4 first = fragment(id, 0), later = fragment(id, 72);

		assert_null(pass(WEIR_OUTBOUND, &first).drop);
		assert_null(pass(WEIR_OUTBOUND, &later).drop);
	}
	assert_string_equal(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0),
			    leaves_from(UDP, INSIDE, 5000, OTHER_REMOTE, 80, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_an_error_from_outside_reaches_the_host_whose_packet_it_is_about),
		cmocka_unit_test(test_an_error_from_inside_is_about_what_the_remote_sent),
		cmocka_unit_test(test_an_error_about_a_hairpinned_packet_goes_back_inside),
		cmocka_unit_test(test_eight_bytes_of_the_transport_inside_are_enough),
		cmocka_unit_test(test_ip_options_inside_are_traversed),
		cmocka_unit_test(test_a_damaged_error_or_one_about_no_mapping_is_dropped),
		cmocka_unit_test(test_an_error_neither_ends_nor_refreshes_a_mapping),
		cmocka_unit_test(test_other_icmp_is_dropped),
		cmocka_unit_test(test_later_fragments_follow_the_first_in_both_directions),
		cmocka_unit_test(test_a_fragment_before_its_first_is_dropped_and_counted),
		cmocka_unit_test(test_fragments_of_a_mapping_that_ended_are_not_known),
		cmocka_unit_test(test_a_flood_of_first_fragments_stays_within_its_memory),
	};

	return cmocka_run_group_tests_name("nat icmp and fragments", tests, weir_test_eal, NULL);
}
