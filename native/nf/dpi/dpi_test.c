/* SPDX-License-Identifier: Apache-2.0 */
/* What operators expect of inspection: verdicts, charges, bounds. */
#include "fixture_test.h"

#include <rte_cycles.h>
#include <rte_ip.h>

#include "core/flow_cache.h"
#include "payloads_test.h"

#define PASSES(what) assert_string_equal(what, "forwarded")
#define DROPPED(reason, what) assert_string_equal(what, reason)

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
test_a_rule_of_addresses_decides_before_any_content(void **state)
{
	(void)state;
	START("1 permit flow tcp 10.0.0.0/8 198.51.100.1 any 80\n"
	      "2 drop flow udp any any\n"
	      "3 drop /forbidden/\n");
	PASSES(dpi_say(4000, 1, "forbidden"));
	DROPPED("flow_rule", dpi_datagram(4000, 53, dns_query, sizeof(dns_query)));
	assert_int_equal(dpi_figure("inspected_packets"), 0);
	assert_int_equal(dpi_charged(SUBSCRIBER, "1", NULL).packets, 1);
	assert_int_equal(dpi_charged(SUBSCRIBER, "2", NULL).packets, 1);
}

static void
test_rules_of_addresses_see_a_flow_from_the_inside(void **state)
{
	(void)state;
	START("1 drop flow tcp 10.0.0.1 any any 80\n");
	DROPPED("flow_rule", dpi_tcp(WEIR_INBOUND, 4000, SYN));
}

static void
test_a_label_by_addresses_stays_unless_content_says_more(void **state)
{
	(void)state;
	START("1 label flow tcp any any\n2 label /special/\n", {"packets_max", "1"});
	PASSES(dpi_say(4000, 1, "plain"));
	PASSES(dpi_say(4001, 1, "special"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "1", NULL).packets, 1);
	assert_int_equal(dpi_charged(SUBSCRIBER, "2", NULL).packets, 1);
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

static void
test_every_packet_and_byte_is_charged_to_its_subscriber_and_rule_once(void **state)
{
	const size_t frame_bytes = 60; /* the shortest */
	struct weir_counter charged;

	(void)state;
	START("7 label /word/\n", {"packets_max", "2"});
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	PASSES(dpi_tcp(WEIR_INBOUND, 4000, SYN | ACK));
	PASSES(dpi_say(4000, 1, "word"));
	assert_int_equal(dpi_charged(NULL, NULL, NULL).packets, 0); /* not yet known whose */
	PASSES(dpi_answer(4000, 1, "yes"));
	PASSES(dpi_say(4000, 5, "again"));
	charged = dpi_charged(SUBSCRIBER, "7", NULL);
	assert_int_equal(charged.packets, 5);
	assert_int_equal(charged.bytes, 5 * frame_bytes);
	assert_int_equal(dpi_charged(NULL, NULL, NULL).packets, 5);
}

static void
test_a_flow_that_ends_without_a_verdict_is_charged_too(void **state)
{
	(void)state;
	START("7 label /word/\n", {"tcp_timeout_s", "5"});
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	dpi_wait_s(6);
	assert_int_equal(dpi_figure("flows"), 0);
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
}

static void
test_a_flow_that_stops_talking_gets_the_verdict_known_so_far(void **state)
{
	(void)state;
	START("7 label /word/\n", {"inspection_timeout_s", "3"});
	PASSES(dpi_say(4000, 1, "word"));
	assert_int_equal(dpi_figure("inspections"), 1);
	dpi_wait_s(4);
	assert_int_equal(dpi_figure("inspections"), 0);
	assert_int_equal(dpi_charged(SUBSCRIBER, "7", NULL).packets, 1);
}

static void
test_idle_flows_end_and_others_stay(void **state)
{
	(void)state;
	START("", {"tcp_timeout_s", "4"}, {"applications", "false"});
	PASSES(dpi_say(4000, 1, "a"));
	PASSES(dpi_say(4001, 1, "b"));
	dpi_wait_s(3);
	PASSES(dpi_say(4001, 2, "c"));
	dpi_wait_s(3);
	assert_int_equal(dpi_figure("flows"), 1);
	dpi_wait_s(3);
	assert_int_equal(dpi_figure("flows"), 0);
}

static void
test_counters_of_idle_subscribers_are_forgotten_but_not_lost(void **state)
{
	(void)state;
	START("", {"udp_timeout_s", "1"}, {"charge_timeout_s", "3"}, {"applications", "false"});
	PASSES(dpi_datagram(4000, 9, "x", 1));
	dpi_wait_s(3);
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
	dpi_wait_s(5);
	assert_int_equal(dpi_figure("charges"), 0);
	assert_int_equal(dpi_figure("forgotten_packets"), 1);
	assert_int_equal(dpi_figure("forgotten_bytes"), 60);
	PASSES(dpi_datagram(4000, 9, "x", 1));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
}

static void
test_a_closed_connection_is_forgotten_soon_and_its_ports_may_begin_anew(void **state)
{
	(void)state;
	START("7 permit /good/\n8 drop /bad/\n", {"closed_timeout_s", "2"});
	PASSES(dpi_say(4000, 1, "good"));
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, FIN | ACK));
	PASSES(dpi_tcp(WEIR_INBOUND, 4000, FIN | ACK));
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	DROPPED("content_rule", dpi_say(4000, 1, "bad"));
	DROPPED("content_rule", dpi_tcp(WEIR_INBOUND, 4000, RST));
	dpi_wait_s(4);
	assert_int_equal(dpi_figure("flows"), 0);
}

static void
test_full_tables_drop_what_would_be_new_and_say_which(void **state)
{
	(void)state;
	START("7 drop /bad/\n", {"flows_max", "2"}, {"inspections_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	DROPPED("inspections_full", dpi_say(4001, 1, "x"));
	DROPPED("flows_full", dpi_say(4002, 1, "x"));
	PASSES(dpi_say(4000, 2, "y"));

	START("1 permit flow tcp any any any 80\n2 permit flow udp any any\n",
	      {"charges_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	DROPPED("charges_full", dpi_datagram(4001, 9, "x", 1));
	PASSES(dpi_say(4002, 1, "x"));
}

static void
test_later_fragments_follow_their_first_one(void **state)
{
	struct weir_test_ipv4 what = {
		.src = SUBSCRIBER,
		.dst = SERVER,
		.src_port = 4000,
		.dst_port = 9,
		.payload = "bad data",
		.payload_bytes = 8,
		.identification = 1,
		.more_fragments = true,
	};
	struct weir_test_ipv4 later = what;

	(void)state;
	START("7 drop /bad/\n", {"packets_max", "1"});
	later.fragment_offset_bytes = 16;
	later.more_fragments = false;
	DROPPED("fragment_unknown", dpi_pass(WEIR_OUTBOUND, &later));
	DROPPED("content_rule", dpi_pass(WEIR_OUTBOUND, &what));
	DROPPED("content_rule", dpi_pass(WEIR_OUTBOUND, &later));
	what.src_port = 4001;
	what.identification = later.identification = 2;
	what.payload = "good one";
	PASSES(dpi_pass(WEIR_OUTBOUND, &what));
	PASSES(dpi_pass(WEIR_OUTBOUND, &later));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 2);
}

static const char *
pass_frame(const void *frame, size_t bytes)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_dpi, dpi, WEIR_OUTBOUND, weir_test_packet(frame, bytes),
			      now_s * rte_get_tsc_hz());

	rte_pktmbuf_free(outcome.packet);
	return outcome.packet != NULL ? "forwarded" : outcome.drop_reason;
}

static void
test_ipv6_passes_or_not_arp_passes_and_nonsense_does_not(void **state)
{
	uint8_t ipv6[60] = {[12] = 0x86, 0xdd, 0x60, [19] = 6, 59, 64};
	uint8_t arp[60] = {[12] = 0x08, 0x06};
	uint8_t cut[30] = {[12] = 0x08, 0x00, 0x45};

	(void)state;
	START("");
	PASSES(pass_frame(ipv6, sizeof(ipv6)));
	PASSES(pass_frame(arp, sizeof(arp)));
	DROPPED("malformed", pass_frame(cut, sizeof(cut)));
	START("", {"ipv6", "drop"});
	DROPPED("ipv6", pass_frame(ipv6, sizeof(ipv6)));
	PASSES(pass_frame(arp, sizeof(arp)));
}

/* The action itself, before it is applied. */
static struct weir_action
decided(uint32_t seq, const char *text)
{
	const struct weir_test_ipv4 what = {
		.src = SUBSCRIBER,
		.dst = SERVER,
		.protocol = IPPROTO_TCP,
		.tcp_seq = seq,
		.payload = text,
		.payload_bytes = strlen(text),
	};
	struct weir_stage stage = {.nf = &weir_nf_dpi, .state = dpi};
	struct weir_batch batch = {
		.count = 1,
		.now_tsc = now_s * rte_get_tsc_hz(),
		.packet = {weir_test_ipv4_packet(&what)},
	};
	struct weir_action action;

	weir_stage_decide(&stage, &batch, &action);
	rte_pktmbuf_free(batch.packet[0]);
	return action;
}

static void
test_only_a_verdict_may_be_remembered(void **state)
{
	struct weir_action action;

	(void)state;
	START("7 drop /bad/\n", {"packets_max", "2"});
	assert_true(decided(1, "a").once);
	action = decided(2, "b");
	assert_false(action.once);
	assert_non_null(action.dependents);
	assert_non_null(action.counters[0]);
	action = decided(3, "c");
	assert_false(action.once);
	assert_ptr_not_equal(action.counters[0], action.counters[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_flow_is_dropped_from_the_packet_with_the_content_on),
		cmocka_unit_test(test_content_is_found_over_the_bounds_of_segments),
		cmocka_unit_test(test_what_was_sent_twice_is_scanned_once),
		cmocka_unit_test(test_a_hole_in_the_stream_begins_a_new_text),
		cmocka_unit_test(test_each_datagram_is_a_text_of_its_own),
		cmocka_unit_test(test_of_two_rules_the_one_before_in_the_file_goes),
		cmocka_unit_test(test_a_label_does_not_end_the_search_for_a_verdict),
		cmocka_unit_test(test_behind_packets_max_nothing_is_scanned),
		cmocka_unit_test(test_behind_payload_bytes_max_nothing_is_scanned),
		cmocka_unit_test(test_a_rule_of_addresses_decides_before_any_content),
		cmocka_unit_test(test_rules_of_addresses_see_a_flow_from_the_inside),
		cmocka_unit_test(test_a_label_by_addresses_stays_unless_content_says_more),
		cmocka_unit_test(test_applications_are_recognised_and_named_in_the_charges),
		cmocka_unit_test(test_an_application_can_be_dropped),
		cmocka_unit_test(test_a_handshake_over_two_segments_is_recognised),
		cmocka_unit_test(
			test_every_packet_and_byte_is_charged_to_its_subscriber_and_rule_once),
		cmocka_unit_test(test_a_flow_that_ends_without_a_verdict_is_charged_too),
		cmocka_unit_test(test_a_flow_that_stops_talking_gets_the_verdict_known_so_far),
		cmocka_unit_test(test_idle_flows_end_and_others_stay),
		cmocka_unit_test(test_counters_of_idle_subscribers_are_forgotten_but_not_lost),
		cmocka_unit_test(
			test_a_closed_connection_is_forgotten_soon_and_its_ports_may_begin_anew),
		cmocka_unit_test(test_full_tables_drop_what_would_be_new_and_say_which),
		cmocka_unit_test(test_later_fragments_follow_their_first_one),
		cmocka_unit_test(test_ipv6_passes_or_not_arp_passes_and_nonsense_does_not),
		cmocka_unit_test(test_only_a_verdict_may_be_remembered),
	};

	return cmocka_run_group_tests_name("dpi", tests, weir_test_eal, dpi_stop);
}
