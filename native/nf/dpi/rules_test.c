/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: how they are written, and what becomes of flows when others come. */
#include "fixture_test.h"

#include "payloads_test.h"

#define LOAD(rules) assert_null(dpi_load(rules))

/* That the rules are refused, with this in the message. */
static void
assert_refused(const char *rules, const char *words)
{
	const char *message = dpi_load(rules);

	assert_non_null(message);
	if (strstr(message, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, message);
}

static void
test_a_rule_that_cannot_be_read_is_refused_with_its_line(void **state)
{
	(void)state;
	START("1 drop /bad/\n");
	assert_refused("# remark\n\n1 drop\n", ":3: ");
	assert_refused("1 drop /a/\n2 forbid /b/\n", ":2: ");
	assert_refused("0 drop /a/\n", ":1: ");
	assert_refused("1 drop /a/x\n", ":1: ");
	assert_refused("1 drop /a\n", ":1: ");
	assert_refused("1 drop //\n", ":1: ");
	assert_refused("1 drop flow tcp 10.0.0.1/8 any\n", ":1: ");
	assert_refused("1 drop flow tcp any\n", ":1: ");
	assert_refused("1 drop flow tcp any any 5-4 any\n", ":1: ");
	assert_refused("1 drop flow tcp any any any 65536\n", ":1: ");
	assert_refused("1 drop application Nonsense\n", "no such application");
	assert_refused("1 drop /a/\n2 drop /b/\n1 label /c/\n", ":3: ");
}

static void
test_an_expression_that_does_not_compile_is_refused_with_its_line(void **state)
{
	(void)state;
	START("1 drop /bad/\n");
	assert_refused("1 drop /a/\n\n2 drop /(unclosed/\n", ":3: ");
	assert_refused("1 drop /a(?=b)/\n", ":1: ");
	DROPPED("content_rule", dpi_say(4000, 1, "bad")); /* the old ones hold */
}

static void
test_expressions_may_hold_slashes_and_have_flags(void **state)
{
	(void)state;
	START("1 drop /GET /ads/[0-9]+/\n2 drop /one.two/s\n3 drop /^line/m\n4 drop /CaSe/i\n");
	DROPPED("content_rule", dpi_say(4000, 1, "GET /ads/17 HTTP/1.1"));
	DROPPED("content_rule", dpi_say(4001, 1, "one\ntwo"));
	DROPPED("content_rule", dpi_say(4002, 1, "a\nline"));
	DROPPED("content_rule", dpi_say(4003, 1, "case"));
	PASSES(dpi_say(4004, 1, "GET /adz/17 HTTP/1.1"));
}

static void
test_rules_of_addresses_ask_for_all_that_they_say(void **state)
{
	const struct weir_test_ipv4 ping = {
		.src = SUBSCRIBER, .dst = SERVER, .protocol = IPPROTO_ICMP, .src_port = 1};

	(void)state;
	START("1 drop flow icmp 10.0.0.0/24 any\n"
	      "2 drop flow 17 any 198.51.100.0/24 1000-1999 53\n"
	      "3 permit flow any any any\n");
	DROPPED("flow_rule", dpi_pass(WEIR_OUTBOUND, &ping));
	DROPPED("flow_rule", dpi_datagram(1999, 53, "x", 1));
	PASSES(dpi_datagram(2000, 53, "x", 1));
	PASSES(dpi_datagram(1999, 54, "x", 1));
}

static void
test_new_rules_hold_for_flows_that_have_no_verdict(void **state)
{
	(void)state;
	START("1 drop /old/\n");
	PASSES(dpi_say(4000, 1, "something"));
	LOAD("2 drop /new/\n");
	PASSES(dpi_say(4000, 10, "old"));
	DROPPED("content_rule", dpi_say(4000, 13, "new"));
}

static void
test_a_verdict_stays_while_its_rule_says_the_same(void **state)
{
	(void)state;
	START("1 drop /bad/\n");
	DROPPED("content_rule", dpi_say(4000, 1, "bad"));
	LOAD("5 permit /good/\n1 drop /bad/\n6 drop /ugly/\n");
	dpi_wait_s(1);
	DROPPED("content_rule", dpi_say(4000, 4, "good"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "1", NULL).packets, 2);
}

static void
test_a_flow_whose_rule_went_is_inspected_anew(void **state)
{
	(void)state;
	START("1 drop /bad/\n2 permit /good/\n");
	DROPPED("content_rule", dpi_say(4000, 1, "bad"));
	PASSES(dpi_say(4001, 1, "good"));
	LOAD("2 permit /nice/\n3 drop /word/\n"); /* number 2 says something else now */
	dpi_wait_s(1);
	PASSES(dpi_say(4000, 4, "more"));
	DROPPED("content_rule", dpi_say(4000, 8, "word"));
	DROPPED("content_rule", dpi_say(4001, 5, "word"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "1", NULL).packets, 1);
	assert_int_equal(dpi_charged(SUBSCRIBER, "2", NULL).packets, 1);
	assert_int_equal(dpi_charged(SUBSCRIBER, "3", NULL).packets, 3);
}

static void
test_what_was_inspected_in_vain_is_not_inspected_again(void **state)
{
	(void)state;
	START("1 drop /bad/\n", {"packets_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	LOAD("2 drop /word/\n");
	dpi_wait_s(1);
	PASSES(dpi_say(4000, 2, "word"));
	assert_int_equal(dpi_figure("inspected_packets"), 1);
}

static void
test_a_rule_of_addresses_that_comes_decides_flows_that_are_there(void **state)
{
	(void)state;
	START("1 drop /bad/\n", {"packets_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	LOAD("1 drop /bad/\n4 drop flow tcp any any 4000 80\n");
	dpi_wait_s(1);
	DROPPED("flow_rule", dpi_say(4000, 2, "y"));
	LOAD("1 drop /bad/\n4 permit flow tcp any any 4000 80\n");
	dpi_wait_s(1);
	PASSES(dpi_say(4000, 3, "z"));
	LOAD("1 drop /bad/\n");
	dpi_wait_s(1);
	DROPPED("content_rule", dpi_say(4000, 4, "bad"));
}

static void
test_a_label_by_addresses_that_comes_or_goes_changes_what_is_charged(void **state)
{
	(void)state;
	START("1 drop /bad/\n", {"packets_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	LOAD("1 drop /bad/\n5 label flow tcp any any\n");
	dpi_wait_s(1);
	PASSES(dpi_say(4000, 2, "y"));
	LOAD("1 drop /bad/\n");
	dpi_wait_s(1);
	PASSES(dpi_say(4000, 3, "z"));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 2);
	assert_int_equal(dpi_charged(SUBSCRIBER, "5", NULL).packets, 1);
	assert_int_equal(dpi_figure("inspected_packets"), 1);
}

static void
test_an_application_known_before_meets_the_new_rules(void **state)
{
	(void)state;
	START("");
	PASSES(dpi_say(4000, 1, HTTP_GET));
	LOAD("9 drop application HTTP\n");
	DROPPED("application_rule", dpi_say(4000, 200, "more"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rule_that_cannot_be_read_is_refused_with_its_line),
		cmocka_unit_test(test_an_expression_that_does_not_compile_is_refused_with_its_line),
		cmocka_unit_test(test_expressions_may_hold_slashes_and_have_flags),
		cmocka_unit_test(test_rules_of_addresses_ask_for_all_that_they_say),
		cmocka_unit_test(test_new_rules_hold_for_flows_that_have_no_verdict),
		cmocka_unit_test(test_a_verdict_stays_while_its_rule_says_the_same),
		cmocka_unit_test(test_a_flow_whose_rule_went_is_inspected_anew),
		cmocka_unit_test(test_what_was_inspected_in_vain_is_not_inspected_again),
		cmocka_unit_test(test_a_rule_of_addresses_that_comes_decides_flows_that_are_there),
		cmocka_unit_test(
			test_a_label_by_addresses_that_comes_or_goes_changes_what_is_charged),
		cmocka_unit_test(test_an_application_known_before_meets_the_new_rules),
	};

	return cmocka_run_group_tests_name("dpi rules", tests, weir_test_eal, dpi_stop);
}
