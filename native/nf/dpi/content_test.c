/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of content and of applications, and how far into a flow they look. */
#include "fixture_test.h"

#include "payloads_test.h"

static void
test_a_flow_is_dropped_from_the_packet_with_the_content_on(void **state)
{
	(void)state;
	START("7 drop /forbidden/i\n");
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	PASSES(dpi_tcp(WEIR_INBOUND, 4000, SYN | ACK));
	PASSES(dpi_say(4000, 1, "GET /something HTTP/1.1\r\n"));
	DROPPED("content_rule", dpi_say(4000, 26, "X-Word: ForBidden\r\n"));
	DROPPED("content_rule", dpi_say(4000, 45, "more"));
	DROPPED("content_rule", dpi_answer(4000, 1, "HTTP/1.1 200 OK\r\n"));
	PASSES(dpi_say(4001, 1, "GET /another HTTP/1.1\r\n"));
}

static void
test_content_is_found_over_the_bounds_of_segments(void **state)
{
	(void)state;
	START("7 drop /attack at [a-z]+/\n");
	PASSES(dpi_say(4000, 100, "att"));
	PASSES(dpi_answer(4000, 1, "yes?"));
	PASSES(dpi_say(4000, 103, "ack at"));
	DROPPED("content_rule", dpi_say(4000, 109, " dawn"));
}

static void
test_what_was_sent_twice_is_scanned_once(void **state)
{
	(void)state;
	START("7 drop /abcdef/\n");
	PASSES(dpi_say(4000, 0xfffffffe, "abc"));
	PASSES(dpi_say(4000, 0xfffffffe, "abc"));
	DROPPED("content_rule", dpi_say(4000, 0xffffffff, "bcdef"));
}

static void
test_what_is_half_of_all_sequence_numbers_behind_was_sent_before(void **state)
{
	(void)state;
	START("7 drop /abcdef/\n");
	PASSES(dpi_say(4000, 1, "abc"));
	PASSES(dpi_say(4000, 4 + (1U << 31), "abcdef"));
	DROPPED("content_rule", dpi_say(4000, 4, "def"));
}

static void
test_a_hole_in_the_stream_begins_a_new_text(void **state)
{
	(void)state;
	START("7 drop /abcdef/\n8 drop /^new text/\n");
	PASSES(dpi_say(4000, 1, "abc"));
	PASSES(dpi_say(4000, 5, "def"));
	DROPPED("content_rule", dpi_say(4000, 100, "new text"));
}

static void
test_each_datagram_is_a_text_of_its_own(void **state)
{
	(void)state;
	START("7 drop /abcdef/\n8 drop /^xyz/\n");
	PASSES(dpi_datagram(4000, 9999, "abc", 3));
	PASSES(dpi_datagram(4000, 9999, "def", 3));
	DROPPED("content_rule", dpi_datagram(4000, 9999, "xyz", 3));
}

static void
test_of_two_rules_the_one_before_in_the_file_goes(void **state)
{
	(void)state;
	START("7 permit /good/\n8 drop /bad/\n");
	PASSES(dpi_say(4000, 1, "bad and good"));
	DROPPED("content_rule", dpi_say(4001, 1, "bad"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "7", NULL).packets, 1);
	assert_int_equal(dpi_charged(SUBSCRIBER, "8", NULL).packets, 1);
}

static void
test_a_label_does_not_end_the_search_for_a_verdict(void **state)
{
	(void)state;
	START("7 label /first/\n8 drop /second/\n", {"packets_max", "3"});
	PASSES(dpi_say(4000, 1, "first"));
	DROPPED("content_rule", dpi_say(4000, 6, "second"));
	PASSES(dpi_say(4001, 1, "first"));
	PASSES(dpi_say(4001, 6, "other"));
	PASSES(dpi_say(4001, 11, "other"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "8", NULL).packets, 2);
	assert_int_equal(dpi_charged(SUBSCRIBER, "7", NULL).packets, 3);
}

static void
test_behind_packets_max_nothing_is_scanned(void **state)
{
	uint64_t scanned;

	(void)state;
	START("7 drop /late/\n", {"packets_max", "2"});
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	PASSES(dpi_say(4000, 1, "one"));
	PASSES(dpi_say(4000, 4, "two"));
	scanned = dpi_figure("scanned_bytes");
	PASSES(dpi_say(4000, 7, "late"));
	assert_int_equal(scanned, 6);
	assert_int_equal(dpi_figure("scanned_bytes"), scanned);
	assert_int_equal(dpi_figure("inspections"), 0);
}

static void
test_behind_payload_bytes_max_nothing_is_scanned(void **state)
{
	(void)state;
	START("7 drop /late/\n", {"payload_bytes_max", "8"});
	PASSES(dpi_say(4000, 1, "12345"));
	PASSES(dpi_say(4000, 6, "6lateXX")); /* three bytes of it are within the bound */
	PASSES(dpi_say(4000, 13, "late"));
	assert_int_equal(dpi_figure("scanned_bytes"), 8);
	assert_int_equal(dpi_figure("inspections"), 0);
}

static void
test_applications_are_recognised_and_named_in_the_charges(void **state)
{
	(void)state;
	START("", {"packets_max", "2"});
	PASSES(dpi_say(4000, 1, HTTP_GET));
	PASSES(dpi_answer(4000, 1, HTTP_ANSWER));
	PASSES(dpi_datagram(4001, 53, dns_query, sizeof(dns_query)));
	PASSES(dpi_datagram(4001, 53, dns_query, sizeof(dns_query)));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", "HTTP").packets, 2);
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", "DNS").packets, 2);
}

static const char *
send_hello(size_t from, size_t size)
{
	const struct weir_test_ipv4 what = {
		.src = SUBSCRIBER,
		.dst = SERVER,
		.protocol = IPPROTO_TCP,
		.src_port = 4000,
		.dst_port = 443,
		.tcp_seq = 1 + from,
		.payload = tls_hello + from,
		.payload_bytes = size,
	};

	return dpi_pass(WEIR_OUTBOUND, &what);
}

static void
test_an_application_can_be_dropped(void **state)
{
	(void)state;
	START("9 drop application TLS\n");
	DROPPED("application_rule", send_hello(0, sizeof(tls_hello)));
	assert_int_equal(dpi_charged(SUBSCRIBER, "9", "TLS").packets, 1);
	PASSES(dpi_say(4001, 1, HTTP_GET));
}

static void
test_a_handshake_over_two_segments_is_recognised(void **state)
{
	(void)state;
	START("9 drop application TLS\n");
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	PASSES(send_hello(0, 40));
	DROPPED("application_rule", send_hello(40, sizeof(tls_hello) - 40));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_flow_is_dropped_from_the_packet_with_the_content_on),
		cmocka_unit_test(test_content_is_found_over_the_bounds_of_segments),
		cmocka_unit_test(test_what_was_sent_twice_is_scanned_once),
		cmocka_unit_test(test_what_is_half_of_all_sequence_numbers_behind_was_sent_before),
		cmocka_unit_test(test_a_hole_in_the_stream_begins_a_new_text),
		cmocka_unit_test(test_each_datagram_is_a_text_of_its_own),
		cmocka_unit_test(test_of_two_rules_the_one_before_in_the_file_goes),
		cmocka_unit_test(test_a_label_does_not_end_the_search_for_a_verdict),
		cmocka_unit_test(test_behind_packets_max_nothing_is_scanned),
		cmocka_unit_test(test_behind_payload_bytes_max_nothing_is_scanned),
		cmocka_unit_test(test_applications_are_recognised_and_named_in_the_charges),
		cmocka_unit_test(test_an_application_can_be_dropped),
		cmocka_unit_test(test_a_handshake_over_two_segments_is_recognised),
	};

	return cmocka_run_group_tests_name("dpi content", tests, weir_test_eal, dpi_stop);
}
