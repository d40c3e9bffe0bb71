/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are changed or read anew while packets flow. */
#include "acl_fixture_test.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void
a_reload_puts_new_rules_in_place(void **state)
{
	void *acl = acl_with("permit any any any", "default", "deny");
	const char *message;

	(void)state;
	assert_null(OUT(0));
	weir_test_file("deny any any any");
	assert_null(weir_test_command(&weir_nf_acl, acl, "reload", NULL));
	assert_string_equal(OUT(0), "denied");
	weir_test_file("permit what ever it is");
	message = weir_test_command(&weir_nf_acl, acl, "reload", NULL);
	assert_non_null(message);
	assert_non_null(strstr(message, ":1: "));
	assert_string_equal(OUT(0), "denied");
	ends(acl);
}

static void
a_change_adds_and_removes_single_rules(void **state)
{
	void *acl = acl_with("permit udp any any any 53\npermit udp any 2001:db8::/32\n", "default",
			     "deny");
	const char *const fewer[][2] = {{"change_list", "remove permit udp any any any 53, "
							"add permit udp any 198.51.100.0/24, "
							"remove permit udp any 2001:db8::/32"},
					{NULL, NULL}};
	const char *const impossible[][2] = {
		{"change_list", "add permit any any any, remove deny any any any"}, {NULL, NULL}};

	(void)state;
	assert_null(OUT(.dst = "198.51.101.7", .dst_port = 53));
	assert_null(OUT6(.dst_port = 80));
	assert_null(weir_test_command(&weir_nf_acl, acl, "change", fewer));
	assert_string_equal(OUT(.dst = "198.51.101.7", .dst_port = 53), "denied");
	assert_null(OUT(.dst = "198.51.100.7", .dst_port = 53));
	assert_string_equal(OUT6(.dst_port = 80), "denied");
	assert_string_equal(weir_test_command(&weir_nf_acl, acl, "change", impossible),
			    "change_list:2: there is no rule deny any any any");
	assert_string_equal(OUT(.dst = "198.51.101.7", .dst_port = 53), "denied");
	ends(acl);
}

static void
without_an_index_rules_decide_change_and_reload_as_with_one(void **state)
{
	const char *const more[][2] = {{"change_list", "remove permit udp any any any 1, "
						       "add permit udp any any any 3 first"},
				       {NULL, NULL}};
	void *acl = acl_with("deny udp any 198.51.100.7 any 1\n"
			     "permit udp any any any 1\n"
			     "permit udp any any any 2\n",
			     "index", "false");

	(void)state;
	assert_string_equal(OUT(.dst = "198.51.100.7", .dst_port = 1), "denied");
	assert_null(OUT(.dst_port = 1));
	assert_null(OUT(.dst_port = 2));
	assert_string_equal(OUT(.dst_port = 3), "denied");
	assert_null(weir_test_command(&weir_nf_acl, acl, "change", more));
	assert_string_equal(OUT(.dst_port = 1), "denied");
	assert_null(OUT(.dst_port = 2));
	assert_null(OUT(.dst_port = 3));
	weir_test_file("deny udp any any any 4\npermit any any any\n");
	assert_null(weir_test_command(&weir_nf_acl, acl, "reload", NULL));
	assert_null(OUT(.dst_port = 1));
	assert_string_equal(OUT(.dst_port = 4), "denied");
	ends(acl);
}

/* Whether later fragments have to wait is a matter of the rules that there are. */
static void
a_change_says_whether_any_rule_names_ports(void **state)
{
	void *acl = acl_with("permit udp any any", "default", "deny");
	const char *const with_ports[][2] = {{"change_list", "add deny tcp any any any 80 first"},
					     {NULL, NULL}};
	const char *const without[][2] = {{"change_list", "remove deny tcp any any any 80"},
					  {NULL, NULL}};

	(void)state;
	assert_null(OUT(.identification = 7, .fragment_offset_bytes = 24, .payload_bytes = 8));
	assert_null(weir_test_command(&weir_nf_acl, acl, "change", with_ports));
	assert_string_equal(
		OUT(.identification = 8, .fragment_offset_bytes = 24, .payload_bytes = 8), "held");
	assert_null(weir_test_command(&weir_nf_acl, acl, "change", without));
	assert_null(OUT(.identification = 9, .fragment_offset_bytes = 24, .payload_bytes = 8));
	ends(acl);
}

static void
a_reload_of_an_acl_without_a_file_asks_which(void **state)
{
	void *acl = weir_test_state(&weir_nf_acl, NULL);

	(void)state;
	assert_string_equal(weir_test_command(&weir_nf_acl, acl, "reload", NULL),
			    "the function was made without a file of rules");
	ends(acl);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reload_puts_new_rules_in_place),
		cmocka_unit_test(a_change_adds_and_removes_single_rules),
		cmocka_unit_test(without_an_index_rules_decide_change_and_reload_as_with_one),
		cmocka_unit_test(a_change_says_whether_any_rule_names_ports),
		cmocka_unit_test(a_reload_of_an_acl_without_a_file_asks_which),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
