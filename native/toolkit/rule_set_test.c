/* SPDX-License-Identifier: Apache-2.0 */
/* Files of rules: what is read, and what is said of what cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_common.h>

#include "rule_set.h"
#include "testing/file.h"

static struct weir_rule_set *
parsed(const char *text)
{
	struct weir_error error = {0};
	struct weir_rule_set *set =
		weir_rule_set_parse(text, strlen(text), "test.rules", false, "rules", &error);

	if (set == NULL)
		fail_msg("%s; expected %s", error.message, error.expected);
	return set;
}

static bool
permits(const struct weir_rule_set *set, const char *src, const char *dst, uint8_t protocol,
	uint16_t dst_port)
{
	struct weir_tuple tuple = {
		.src_port = htons(1024), .dst_port = htons(dst_port), .protocol = protocol};
	bool permitted;

	inet_pton(AF_INET, src, &tuple.src_ip);
	inet_pton(AF_INET, dst, &tuple.dst_ip);
	tuple = weir_classifier_flow_tuple(&tuple);
	weir_rule_set_permits(set, &tuple, &permitted, 1);
	return permitted;
}

static void
a_rule_is_an_action_a_protocol_two_prefixes_and_ports(void **state)
{
	struct weir_rule_set *set = parsed("permit tcp 10.0.0.0/8 192.0.2.1 1024-65535 80\n");
	const struct weir_rule *rule = &set->ipv4_rules[0];

	(void)state;
	assert_int_equal(set->count, 1);
	assert_true(set->ipv4_permits[0]);
	assert_int_equal(rule->src_ip, htonl(0x0a000000));
	assert_int_equal(rule->src_mask, htonl(0xff000000));
	assert_int_equal(rule->dst_ip, htonl(0xc0000201));
	assert_int_equal(rule->dst_mask, UINT32_MAX);
	assert_int_equal(rule->src_port_low, 1024);
	assert_int_equal(rule->src_port_high, 65535);
	assert_int_equal(rule->dst_port_low, 80);
	assert_int_equal(rule->dst_port_high, 80);
	assert_int_equal(rule->protocol, IPPROTO_TCP);
	assert_false(rule->any_protocol);
	weir_rule_set_free(set);
}

static bool
permits_ipv6(const struct weir_rule_set *set, const char *src, const char *dst, uint8_t protocol,
	     uint16_t dst_port)
{
	struct weir_tuple rest = {
		.src_port = htons(1024), .dst_port = htons(dst_port), .protocol = protocol};
	struct weir_ipv6_tuple tuple = {.rest = weir_classifier_flow_tuple(&rest)};

	inet_pton(AF_INET6, src, tuple.src_ip);
	inet_pton(AF_INET6, dst, tuple.dst_ip);
	return weir_rule_set_permits_ipv6(set, &tuple);
}

static void
a_rule_without_addresses_is_for_both_families_and_one_with_them_for_its_own(void **state)
{
	struct weir_rule_set *set = parsed("deny tcp any 2001:db8:1::/48 any 22\n"
					   "deny tcp 10.0.0.0/8 any any 23\n"
					   "permit tcp any any\n");

	(void)state;
	assert_int_equal(set->count, 3);
	assert_int_equal(set->ipv4_count, 2);
	assert_int_equal(set->ipv6.count, 2);
	assert_false(permits_ipv6(set, "::1", "2001:db8:1::9", IPPROTO_TCP, 22));
	assert_true(permits_ipv6(set, "::1", "2001:db8:2::9", IPPROTO_TCP, 22));
	assert_true(permits_ipv6(set, "::1", "2001:db8:1::9", IPPROTO_TCP, 23));
	assert_true(permits(set, "10.0.0.1", "192.0.2.1", IPPROTO_TCP, 22));
	assert_false(permits(set, "10.0.0.1", "192.0.2.1", IPPROTO_TCP, 23));
	assert_false(permits_ipv6(set, "::1", "2001:db8:1::9", IPPROTO_UDP, 22)); /* default */
	weir_rule_set_free(set);
}

static void
the_first_rule_that_matches_decides(void **state)
{
	struct weir_rule_set *set = parsed("deny tcp any 192.0.2.1 any 22\n"
					   "permit tcp any 192.0.2.0/24\n"
					   "deny any any any\n"
					   "permit any any any\n");

	(void)state;
	assert_false(permits(set, "10.0.0.1", "192.0.2.1", IPPROTO_TCP, 22));
	assert_true(permits(set, "10.0.0.1", "192.0.2.1", IPPROTO_TCP, 23));
	assert_true(permits(set, "10.0.0.1", "192.0.2.2", IPPROTO_TCP, 22));
	assert_false(permits(set, "10.0.0.1", "192.0.3.2", IPPROTO_TCP, 22));
	weir_rule_set_free(set);
}

static void
what_matches_no_rule_is_as_the_default_says(void **state)
{
	struct weir_error error;
	struct weir_rule_set *set = weir_rule_set_parse("", 0, "empty", true, "rules", &error);

	(void)state;
	assert_true(permits(set, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 53));
	weir_rule_set_free(set);
	set = weir_rule_set_parse("", 0, "empty", false, "rules", &error);
	assert_false(permits(set, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 53));
	weir_rule_set_free(set);
}

static void
a_rule_for_any_protocol_that_names_ports_is_about_tcp_and_udp(void **state)
{
	struct weir_rule_set *set = parsed("permit any any any any 0-1023");

	(void)state;
	assert_true(permits(set, "10.0.0.1", "10.0.0.2", IPPROTO_TCP, 80));
	assert_true(permits(set, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 80));
	assert_false(permits(set, "10.0.0.1", "10.0.0.2", IPPROTO_ICMP, 80));
	assert_false(permits(set, "10.0.0.1", "10.0.0.2", 47, 0));
	weir_rule_set_free(set);
}

static void
comments_empty_lines_tabs_and_carriage_returns_are_no_rules(void **state)
{
	struct weir_rule_set *set = parsed("# a comment\r\n\r\n \t \n"
					   "permit\tudp any  any\tany 53 # DNS\r\n"
					   "permit 47 any any#GRE");

	(void)state;
	assert_int_equal(set->count, 2);
	assert_int_equal(set->ipv4_rules[0].dst_port_low, 53);
	assert_int_equal(set->ipv4_rules[1].protocol, 47);
	weir_rule_set_free(set);
}

static void
an_error_names_file_and_line_and_what_was_expected(void **state)
{
	static const struct {
		const char *text, *message, *expected;
	} bad[] = {
		{"\n\nallow tcp any any", "test.rules:3: 'allow' is not an action",
		 "permit or deny"},
		{"permit tpc any any", "test.rules:1: 'tpc' is not a protocol",
		 "any, tcp, udp, icmp, icmpv6 or a number up to 255"},
		{"permit 256 any any", "test.rules:1: '256' is not a protocol",
		 "any, tcp, udp, icmp, icmpv6 or a number up to 255"},
		{"permit tcp 10.0.0 any", "test.rules:1: '10.0.0' is not an address",
		 "any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32"},
		{"permit tcp any 10.0.0.0/33", "test.rules:1: '10.0.0.0/33' is not an address",
		 "any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32"},
		{"permit tcp any 10.0.0.1/8",
		 "test.rules:1: '10.0.0.1/8' is not a prefix: it has host bits",
		 "an address whose bits behind the prefix are 0"},
		{"permit tcp any",
		 "test.rules:1: a rule has four words, five with types of ICMP, or six with ports",
		 "permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS | "
		 "TYPES]"},
		{"permit tcp any any 80",
		 "test.rules:1: only icmp and icmpv6 have types of messages",
		 "icmp or icmpv6, or two words for ports"},
		{"permit icmp any any packet-too-big",
		 "test.rules:1: 'packet-too-big' is not a type",
		 "a type of message up to 255, a range such as 133-137, or a name such as "
		 "echo-request"},
		{"permit icmpv6 any any 137-133", "test.rules:1: '137-133' is not a type",
		 "a type of message up to 255, a range such as 133-137, or a name such as "
		 "echo-request"},
		{"permit 58 10.0.0.0/8 any 128",
		 "test.rules:1: the types are of the other family's ICMP",
		 "icmp of IPv4 or icmpv6 of IPv6"},
		{"permit tcp 10.0.0.0/8 2001:db8::/32",
		 "test.rules:1: '2001:db8::/32' is not of the family of the words before it",
		 "both addresses, and icmp or icmpv6, of one family"},
		{"permit icmp any 2001:db8::1",
		 "test.rules:1: '2001:db8::1' is not of the family of the words before it",
		 "both addresses, and icmp or icmpv6, of one family"},
		{"permit any 2001:db8::/129 any",
		 "test.rules:1: '2001:db8::/129' is not an address",
		 "any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32"},
		{"permit any 2001:db8::1/64 any",
		 "test.rules:1: '2001:db8::1/64' is not a prefix: it has host bits",
		 "an address whose bits behind the prefix are 0"},
		{"permit tcp any any any 65536", "test.rules:1: '65536' is not a port",
		 "any, a port up to 65535, or a range such as 1024-65535"},
		{"permit tcp any any any 90-80", "test.rules:1: '90-80' is not a range of ports",
		 "the lower port first"},
		{"permit tcp any any any 80-", "test.rules:1: '80-' is not a range of ports",
		 "any, a port up to 65535, or a range such as 1024-65535"},
		{"permit icmp any any any 80", "test.rules:1: only tcp and udp have ports",
		 "tcp, udp or any"},
		{"permit tcp any any any any any", "test.rules:1: more words than a rule has",
		 "at most 6 words"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		struct weir_error error;

		assert_null(weir_rule_set_parse(bad[i].text, strlen(bad[i].text), "test.rules",
						false, "rules", &error));
		assert_string_equal(error.message, bad[i].message);
		assert_string_equal(error.expected, bad[i].expected);
	}
}

static void
a_file_is_read_whole(void **state)
{
	const char *path = weir_test_path();
	FILE *file = fopen(path, "w");
	struct weir_rule_set *set;
	struct weir_error error;

	(void)state;
	assert_non_null(file);
	for (unsigned int i = 0; i < 40000; i++)
		fprintf(file, "permit tcp 10.%u.%u.0/24 any any 80\n", i / 256, i % 256);
	fclose(file);
	set = weir_rule_set_load(path, false, "rules", &error);
	unlink(path);
	assert_non_null(set);
	assert_int_equal(set->count, 40000);
	assert_true(permits(set, "10.100.7.1", "10.0.0.2", IPPROTO_TCP, 80));
	assert_false(permits(set, "10.200.7.1", "10.0.0.2", IPPROTO_TCP, 80));
	weir_rule_set_free(set);
}

static void
a_file_that_is_not_there_is_named(void **state)
{
	struct weir_error error;

	(void)state;
	assert_null(weir_rule_set_load("/nonexistent/rules", false, "rules", &error));
	assert_string_equal(error.message,
			    "/nonexistent/rules cannot be read: No such file or directory");
}

static void
a_pipe_is_refused_and_nobody_waited_for(void **state)
{
	const char *path = weir_test_path();
	char expected[64];
	struct weir_error error;

	(void)state;
	unlink(path); /* another test has it, if it ran */
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_null(weir_rule_set_load(path, false, "rules", &error));
	alarm(0);
	unlink(path);
	snprintf(expected, sizeof(expected), "%s is no regular file", path);
	assert_string_equal(error.message, expected);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_an_action_a_protocol_two_prefixes_and_ports),
		cmocka_unit_test(
			a_rule_without_addresses_is_for_both_families_and_one_with_them_for_its_own),
		cmocka_unit_test(the_first_rule_that_matches_decides),
		cmocka_unit_test(what_matches_no_rule_is_as_the_default_says),
		cmocka_unit_test(a_rule_for_any_protocol_that_names_ports_is_about_tcp_and_udp),
		cmocka_unit_test(comments_empty_lines_tabs_and_carriage_returns_are_no_rules),
		cmocka_unit_test(an_error_names_file_and_line_and_what_was_expected),
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		cmocka_unit_test(a_pipe_is_refused_and_nobody_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
