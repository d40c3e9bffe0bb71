/* SPDX-License-Identifier: Apache-2.0 */
/* Routes from a file, and by commands while packets flow. */
#include "l3fwd_fixture_test.h"

#include <stdio.h>
#include <string.h>

static void
refused(const char *lines, const char *message)
{
	const struct weir_option_value options[] = {{"routes", weir_test_file(lines)},
						    {"ipv4_groups_max", "1"}};
	struct weir_error error = {0};

	assert_null(weir_nf_create(&weir_nf_l3fwd, options, 2, "options", &error));
	assert_non_null(strstr(error.message, message));
	assert_non_null(strstr(error.message, weir_test_path()));
}

static void
a_wrong_line_is_named_by_file_and_number(void **state)
{
	(void)state;
	refused("10.0.0.1/8 02:00:00:00:00:01\n", ":1: not a prefix");
	refused("# one\n\n10.0.0.0/8\n", ":3: the next hop");
	refused("10.0.0.0/8 ff:ff:ff:ff:ff:ff\n", ":1: the next hop");
	refused("10.0.0.0/8 02:00:00:00:00:01 16\n", ":1: the egress");
	refused("10.0.0.0/8 02:00:00:00:00:01 1 2\n", ":1: more than");
	refused("::/0 02:00:00:00:00:01\n::/0 02:00:00:00:00:02\n", ":2: the prefix is there");
	refused("10.0.0.1 02:00:00:00:00:01\n10.0.1.1 02:00:00:00:00:01\n", ":2: the 1 groups");
}

static const char *
add(const char *prefix, const char *next_hop)
{
	const char *const arguments[][2] = {
		{"prefix", prefix}, {"next_hop", next_hop}, {"egress", "5"}, {NULL, NULL}};

	return weir_test_command(&weir_nf_l3fwd, l3fwd, "route-add", arguments);
}

static const char *delete (const char *prefix)
{
	const char *const arguments[][2] = {{"prefix", prefix}, {NULL, NULL}};

	return weir_test_command(&weir_nf_l3fwd, l3fwd, "route-delete", arguments);
}

static void
routes_come_change_and_go(void **state)
{
	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n");
	assert_null(add("198.51.100.0/24", "02:00:00:00:00:02"));
	assert_string_equal(to("198.51.100.1"), "02/5");
	assert_null(add("198.51.100.0/24", "02:00:00:00:00:03"));
	assert_string_equal(to("198.51.100.1"), "03/5");
	assert_null(delete ("198.51.100.0/24"));
	assert_string_equal(to("198.51.100.1"), "01/0");
	assert_non_null(delete ("198.51.100.0/24"));
	assert_non_null(add("198.51.100.1/24", "02:00:00:00:00:02"));
	assert_non_null(add("198.51.100.0/24", "03:00:00:00:00:02"));
	assert_null(add("2001:db8::/32", "02:00:00:00:00:04"));
	assert_string_equal(ipv6("2001:db8::1", "2001:db8::2"), "04/5");
}

static void
next_hops_that_no_route_needs_make_room(void **state)
{
	const char *const options[][2] = {
		{"dst_mac", "02:00:00:00:00:01"}, {"next_hops_max", "2"}, {NULL, NULL}};
	char mac[18];

	(void)state;
	start(options);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(mac, sizeof(mac), "02:00:00:00:01:%02x", i);
		assert_null(add("10.0.0.0/8", mac));
	}
	assert_null(add("10.1.0.0/16", "02:00:00:00:02:01"));
	assert_non_null(add("10.2.0.0/16", "02:00:00:00:02:02"));
}

static void
a_file_replaces_all_routes_at_once_or_none(void **state)
{
	const char *const arguments[][2] = {{"routes", weir_test_path()}, {NULL, NULL}};

	(void)state;
	start_with_routes("198.51.100.0/24 02:00:00:00:00:01\n2001:db8::/32 02:00:00:00:00:01\n");
	weir_test_file("203.0.113.0/24 02:00:00:00:00:02\nnonsense\n");
	assert_non_null(weir_test_command(&weir_nf_l3fwd, l3fwd, "routes-load", arguments));
	assert_string_equal(to("198.51.100.1"), "01/0");
	weir_test_file("203.0.113.0/24 02:00:00:00:00:02\n");
	assert_null(weir_test_command(&weir_nf_l3fwd, l3fwd, "routes-load", arguments));
	assert_string_equal(to("203.0.113.1"), "02/0");
	assert_string_equal(to("198.51.100.1"), "no_route");
	assert_string_equal(ipv6("2001:db8::1", "2001:db8::2"), "no_route");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_line_is_named_by_file_and_number),
		cmocka_unit_test(routes_come_change_and_go),
		cmocka_unit_test(next_hops_that_no_route_needs_make_room),
		cmocka_unit_test(a_file_replaces_all_routes_at_once_or_none),
	};

	return cmocka_run_group_tests_name("l3fwd routes", tests, weir_test_eal, end);
}
