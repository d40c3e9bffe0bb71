/* SPDX-License-Identifier: Apache-2.0 */
/* What is decided before any content: rules of addresses, fragments, other protocols. */
#include "fixture_test.h"

#include <rte_cycles.h>

#include "payloads_test.h"

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
	DROPPED("held", dpi_pass(WEIR_OUTBOUND, &later));
	DROPPED("content_rule", dpi_pass(WEIR_OUTBOUND, &what));
	DROPPED("content_rule", dpi_pass(WEIR_OUTBOUND, &later));
	what.src_port = 4001;
	what.identification = later.identification = 2;
	what.payload = "good one";
	PASSES(dpi_pass(WEIR_OUTBOUND, &what));
	PASSES(dpi_pass(WEIR_OUTBOUND, &later));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 2);
}

/* The first and a later fragment of the subscriber's datagram of that port: what becomes of each.
 */
static void
assert_fragments(uint16_t port, const char *first, const char *second)
{
	struct weir_test_ipv4 what = {
		.src = SUBSCRIBER,
		.dst = SERVER,
		.src_port = port,
		.dst_port = 9,
		.payload = "any data",
		.payload_bytes = 8,
		.identification = port,
		.more_fragments = true,
	};

	assert_string_equal(dpi_pass(WEIR_OUTBOUND, &what), first);
	what.fragment_offset_bytes = 16;
	assert_string_equal(dpi_pass(WEIR_OUTBOUND, &what), second);
}

static void
test_later_fragments_of_a_first_one_that_found_a_table_full_are_dropped_as_it_is(void **state)
{
	(void)state;
	START("7 drop /bad/\n", {"inspections_max", "1"});
	assert_fragments(4000, "forwarded", "forwarded");
	assert_fragments(4001, "inspections_full", "inspections_full");
	START("1 permit flow tcp any any\n2 permit flow udp any any\n", {"charges_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	assert_fragments(4001, "charges_full", "charges_full");
	START("", {"flows_max", "1"});
	assert_fragments(4000, "forwarded", "forwarded");
	assert_fragments(4001, "flows_full", "flows_full");
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
test_ipv6_passes_only_if_the_option_says_so_arp_always_and_nonsense_never(void **state)
{
	uint8_t ipv6[60] = {[12] = 0x86, 0xdd, 0x60, [19] = 6, 59, 64};
	uint8_t arp[60] = {[12] = 0x08, 0x06};
	uint8_t cut[30] = {[12] = 0x08, 0x00, 0x45};

	(void)state;
	START("");
	DROPPED("ipv6", pass_frame(ipv6, sizeof(ipv6)));
	PASSES(pass_frame(arp, sizeof(arp)));
	DROPPED("malformed", pass_frame(cut, sizeof(cut)));
	START("", {"ipv6", "forward"});
	PASSES(pass_frame(ipv6, sizeof(ipv6)));
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
	assert_non_null(action.invalidation);
	assert_non_null(action.counters[0]);
	action = decided(3, "c");
	assert_false(action.once);
	assert_ptr_not_equal(action.counters[0], action.counters[1]);
}

static void
test_a_flush_ends_flows_without_packets_and_no_others(void **state)
{
	static const char *const nothing[][2] = {{NULL, NULL}};

	(void)state;
	START("");
	PASSES(dpi_datagram(1, 80, "a", 1));
	PASSES(dpi_datagram(2, 80, "b", 1));
	dpi_wait_s(1);
	PASSES(dpi_datagram(2, 80, "b", 1));
	assert_int_equal(dpi_figure("flows"), 2);
	assert_null(weir_test_command(&weir_nf_dpi, dpi, "flush", nothing));
	dpi_wait_s(1);
	PASSES(dpi_datagram(2, 80, "b", 1));
	dpi_wait_s(1);
	assert_int_equal(dpi_figure("flows"), 1);
	dpi_wait_s(3);
	assert_int_equal(dpi_figure("flows"), 1); /* the flush is over */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rule_of_addresses_decides_before_any_content),
		cmocka_unit_test(test_rules_of_addresses_see_a_flow_from_the_inside),
		cmocka_unit_test(test_a_label_by_addresses_stays_unless_content_says_more),
		cmocka_unit_test(test_later_fragments_follow_their_first_one),
		cmocka_unit_test(
			test_later_fragments_of_a_first_one_that_found_a_table_full_are_dropped_as_it_is),
		cmocka_unit_test(
			test_ipv6_passes_only_if_the_option_says_so_arp_always_and_nonsense_never),
		cmocka_unit_test(test_only_a_verdict_may_be_remembered),
		cmocka_unit_test(test_a_flush_ends_flows_without_packets_and_no_others),
	};

	return cmocka_run_group_tests_name("dpi", tests, weir_test_eal, dpi_stop);
}
