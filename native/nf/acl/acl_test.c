/* SPDX-License-Identifier: Apache-2.0 */
/* What rules decide, sentence by sentence. */
#include "acl_fixture_test.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <netinet/in.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ip.h>

static void
rules_of_ipv6_decide_on_ipv6_and_those_without_addresses_on_both(void **state)
{
	void *acl = acl_with("permit tcp any 2001:db8:1::/48 any 443\n"
			     "deny any 2001:db8::/48 any\n"
			     "permit udp any any any 53\n",
			     "default", "deny");

	(void)state;
	assert_null(OUT6(.protocol = IPPROTO_TCP, .dst_port = 443));
	assert_string_equal(OUT6(.protocol = IPPROTO_TCP, .dst_port = 80), "denied");
	assert_string_equal(OUT6(.dst_port = 53), "denied");
	assert_null(OUT6(.src = "2001:db8:f::1", .dst_port = 53));
	assert_null(OUT(.dst_port = 53));
	assert_string_equal(OUT(.dst_port = 54), "denied");
	ends(acl);
}

static void
types_of_icmp_can_be_named_in_both_families(void **state)
{
	void *acl = acl_with("permit icmpv6 any any packet-too-big\n"
			     "permit icmpv6 any any 128-129\n"
			     "permit icmp any any echo-request\n",
			     "default", "deny");

	(void)state;
	assert_null(OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 2));
	assert_null(OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 128));
	assert_null(OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 129));
	assert_string_equal(OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 135), "denied");
	assert_null(OUT(.protocol = IPPROTO_ICMP));
	assert_string_equal(OUT(.protocol = IPPROTO_ICMP, .icmp_type = 3), "denied");
	ends(acl);
}

static void
the_first_rule_that_matches_decides_in_both_directions(void **state)
{
	void *acl = acl_with("deny udp any 198.51.100.7 any 53\n"
			     "permit udp any 198.51.100.0/24\n",
			     "default", "deny");

	(void)state;
	assert_string_equal(OUT(.dst = "198.51.100.7", .dst_port = 53), "denied");
	assert_string_equal(IN(.dst = "198.51.100.7", .dst_port = 53), "denied");
	assert_null(OUT(.dst = "198.51.100.7", .dst_port = 54));
	assert_null(IN(.dst = "198.51.100.8", .dst_port = 53));
	assert_string_equal(OUT(.dst = "198.51.101.8"), "denied");
	ends(acl);
}

static void
an_answer_needs_a_rule_of_its_own(void **state)
{
	void *acl = acl_with("permit udp any any any 53", "default", "deny");

	(void)state;
	assert_null(OUT(.src_port = 1000, .dst_port = 53));
	assert_string_equal(IN(.src_port = 53, .dst_port = 1000), "denied");
	ends(acl);
}

static void
without_rules_the_default_decides(void **state)
{
	const char *const permit[][2] = {{"default", "permit"}, {NULL, NULL}};
	void *acl = weir_test_state(&weir_nf_acl, NULL);

	(void)state;
	assert_string_equal(OUT(0), "denied");
	ends(acl);
	acl = weir_test_state(&weir_nf_acl, permit);
	assert_null(OUT(0));
	ends(acl);
}

static void
rules_of_one_direction_leave_the_other_alone(void **state)
{
	void *acl = acl_with("deny any any any", "direction", "inbound");

	(void)state;
	assert_null(OUT(0));
	assert_string_equal(IN(0), "denied");
	ends(acl);
}

static void
a_cut_header_is_dropped_though_rules_permit_all(void **state)
{
	void *acl = acl_with("permit any any any", "default", "deny");
	const struct weir_test_ipv4 what = {.protocol = IPPROTO_TCP};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	struct weir_test_outcome outcome;

	(void)state;
	weir_test_ipv4_frame(&what, frame);
	frame[17] = 20 + 8; /* the IP packet ends within the TCP header */
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(frame, 60), 0);
	assert_string_equal(outcome.drop_reason, "truncated");
	frame[17] = 200; /* and beyond the frame */
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(frame, 60), 0);
	assert_string_equal(outcome.drop_reason, "malformed");
	ends(acl);
}

static void
frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_test_outcome outcome;
	void *acl = acl_with("permit any any any", "not_ipv4", "drop");

	(void)state;
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(arp, 60), 0);
	assert_string_equal(outcome.drop_reason, "not_ipv4");
	ends(acl);
	acl = acl_with("deny any any any", "not_ipv4", "forward");
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(arp, 60), 0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	ends(acl);
}

static void
arp_may_pass_while_rules_deny_ipv6(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	static const uint8_t ipv6[60] = {[12] = 0x86, [13] = 0xdd, [14] = 0x60, [20] = 59};
	struct weir_test_outcome outcome;
	void *acl = acl_with("deny any any any", "arp", "forward");

	(void)state;
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(arp, 60), 0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(ipv6, 60), 0);
	assert_string_equal(outcome.drop_reason, "denied");
	ends(acl);
}

static void
rules_come_as_a_list_too_whose_mistakes_are_named(void **state)
{
	static const char *const options[][2] = {
		{"rule_list", "deny any any 10.2.0.0/24, permit any any 10.0.0.0/8"}, {NULL, NULL}};
	const struct weir_option_value wrong[] = {{"rule_list", "permit any any any, permit icmq"}};
	const struct weir_option_value both[] = {{"rule_list", "permit any any any"},
						 {"rules", weir_test_file("")}};
	struct weir_error error = {0};
	void *acl = weir_test_state(&weir_nf_acl, options);

	(void)state;
	assert_null(OUT(.dst = "10.1.0.1"));
	assert_string_equal(OUT(.dst = "10.2.0.1"), "denied");
	ends(acl);
	assert_null(weir_nf_create(&weir_nf_acl, wrong, 1, "options", &error));
	assert_non_null(strstr(error.message, "rule_list:2"));
	assert_null(weir_nf_create(&weir_nf_acl, both, 2, "options", &error));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_ipv6_decide_on_ipv6_and_those_without_addresses_on_both),
		cmocka_unit_test(types_of_icmp_can_be_named_in_both_families),
		cmocka_unit_test(the_first_rule_that_matches_decides_in_both_directions),
		cmocka_unit_test(an_answer_needs_a_rule_of_its_own),
		cmocka_unit_test(without_rules_the_default_decides),
		cmocka_unit_test(rules_of_one_direction_leave_the_other_alone),
		cmocka_unit_test(a_cut_header_is_dropped_though_rules_permit_all),
		cmocka_unit_test(
			frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says),
		cmocka_unit_test(arp_may_pass_while_rules_deny_ipv6),
		cmocka_unit_test(rules_come_as_a_list_too_whose_mistakes_are_named),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
