/* SPDX-License-Identifier: Apache-2.0 */
/* ICMP errors: RFC 5508, section 4. */
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

static void
begin(void)
{
	START({"external", EXTERNAL "/32"}, {"hairpin_output", "1"});
}

/* What a router outside says about packets of an inside host's mapping. */
static struct weir_test_icmp_error
error_of_router(void)
{
	return (struct weir_test_icmp_error){
		.src = ROUTER,
		.dst = EXTERNAL,
		.code = 1,
		.inside = {.src = EXTERNAL, .dst = REMOTE, .dst_port = 80},
	};
}

static uint16_t
map(uint8_t protocol, const char *inside, uint16_t port)
{
	return port_in(leaves_from(protocol, inside, port, REMOTE, 80, ACK));
}

/* The packet that `error` is about as INSIDE sent it; `error` then names its mapping. */
static struct weir_test_ipv4
as_sent_from_inside(struct weir_test_icmp_error *error)
{
	struct weir_test_ipv4 sent = error->inside;

	sent.src = INSIDE;
	sent.src_port = 5000;
	error->inside.src_port = map(sent.protocol != 0 ? sent.protocol : UDP, INSIDE, 5000);
	return sent;
}

/* RFC 5508, REQ-4. */
static void
test_an_error_from_outside_reaches_the_host_whose_packet_it_is_about(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, ICMP};

	(void)state;
	begin();
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		struct weir_test_icmp_error error = error_of_router();
		struct weir_test_ipv4 sent;
		struct seen seen;

		map(protocols[i], OTHER_INSIDE, 5000);
		error.inside.protocol = protocols[i];
		sent = as_sent_from_inside(&error);
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
	struct weir_test_icmp_error error = {
		.src = INSIDE,
		.dst = REMOTE,
		.inside = {.src = REMOTE, .src_port = 80, .dst = INSIDE, .dst_port = 5000},
	};
	struct weir_test_ipv4 sent = error.inside;
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
	struct weir_test_icmp_error error = {
		.src = OTHER_INSIDE,
		.dst = EXTERNAL,
		.inside = {.src = EXTERNAL, .dst = OTHER_INSIDE, .dst_port = 6000},
	};
	struct weir_test_ipv4 sent = {.src = INSIDE, .src_port = 5000, .dst = EXTERNAL};
	struct seen seen;

	(void)state;
	begin();
	error.inside.src_port = map(UDP, INSIDE, 5000);
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
	struct weir_test_icmp_error error = error_of_router();
	struct weir_test_ipv4 sent;

	(void)state;
	begin();
	error.type = 11;
	error.inside.payload_bytes = 100;
	error.inside_bytes = 28;
	sent = as_sent_from_inside(&error);
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
	error.inside_bytes = 27;
	assert_string_equal(pass_error(WEIR_INBOUND, &error, &sent).drop, "icmp");
}

/* RFC 5508, REQ-3b. */
static void
test_ip_options_inside_are_traversed(void **state)
{
	struct weir_test_icmp_error error = error_of_router();
	struct weir_test_ipv4 sent;

	(void)state;
	begin();
	error.inside.option_bytes = 8;
	sent = as_sent_from_inside(&error);
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
}

/* RFC 5508, REQ-3 and 3a; REQ-4: no mapping. */
static void
test_a_damaged_error_or_one_about_no_mapping_is_dropped(void **state)
{
	struct weir_test_icmp_error error = error_of_router();
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	begin();
	error.inside.src_port = map(UDP, INSIDE, 5000);
	bytes = weir_test_icmp_error_frame(&error, frame);
	frame[IP_AT + 22] ^= 1; /* its checksum */
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
	frame[INNER_AT + 10] ^= 1; /* that of the IP header inside; the message's is right again */
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
	error.inside.src_port++;
	bytes = weir_test_icmp_error_frame(&error, frame);
	assert_string_equal(pass_bytes(WEIR_INBOUND, frame, bytes).drop, "icmp");
}

/* RFC 5508, REQ-6; RFC 4787, REQ-12. */
static void
test_an_error_neither_ends_nor_refreshes_a_mapping(void **state)
{
	struct weir_test_icmp_error error = error_of_router();
	struct weir_test_ipv4 sent;

	(void)state;
	begin();
	sent = as_sent_from_inside(&error);
	wait_s(200);
	assert_null(pass_error(WEIR_INBOUND, &error, &sent).drop);
	assert_int_equal(map(UDP, INSIDE, 5000), error.inside.src_port);
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
	};

	return cmocka_run_group_tests_name("nat icmp", tests, weir_test_eal, NULL);
}
