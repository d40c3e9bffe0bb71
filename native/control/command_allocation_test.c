/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to functions of which the n-th allocation fails: each is refused, and changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_common.h>

#include "allocation_fixture_test.h"
#include "testing/eal.h"
#include "testing/file.h"

#define COMMAND(stage, command, args)                                                              \
	"{'cmd':'nf.command','args':{'area':'state','stage':'" stage "','command':'" command       \
	"','args':{" args "}}}"

/* What it changes, how that is undone, and the text of FILE. */
static const struct nf_change {
	const char *request, *undo, *file;
} nf_changes[] = {
	{COMMAND("acl", "reload", "'rules':'FILE'"), NULL, "deny any any 10.3.0.0/24\n"},
	{COMMAND("firewall", "reload", "'rules':'FILE'"), NULL, "permit any any 10.3.0.0/24\n"},
	{COMMAND("nat", "flush", ""), NULL, ""},
	{COMMAND("nat", "static-add",
		 "'external':'203.0.113.1','external_port':80,'inside':'10.0.0.5','inside_port':"
		 "80"),
	 COMMAND("nat", "static-delete", "'external':'203.0.113.1','external_port':80"), ""},
	{COMMAND("lb", "backend-add", "'service':'203.0.113.9:80/tcp','backend':'10.0.0.2:8080'"),
	 COMMAND("lb", "backend-remove",
		 "'service':'203.0.113.9:80/tcp','backend':'10.0.0.2:8080'"),
	 ""},
	{COMMAND("l3fwd", "route-add", "'prefix':'10.9.0.0/16','next_hop':'02:00:00:00:00:0a'"),
	 COMMAND("l3fwd", "route-delete", "'prefix':'10.9.0.0/16'"), ""},
	{COMMAND("l3fwd", "routes-load", "'routes':'FILE'"), NULL,
	 "10.0.0.0/8 02:00:00:00:00:0b\n"},
	{COMMAND("dpi", "rules-load", "'rules_file':'FILE'"), NULL,
	 "1 drop /abc/\n2 drop flow udp any any any 6881-6889\n"},
};

static void
commands_of_which_an_allocation_fails_change_nothing(void **state)
{
	(void)state;
	weir_test_is_done(weir_test_configure);
	for (unsigned int i = 0; i < RTE_DIM(nf_changes); i++) {
		const struct nf_change *change = &nf_changes[i];
		size_t before_bytes;

		weir_test_file(change->file);
		/* The first time something may be made that stays, as a longer list. */
		weir_test_is_done(change->request);
		if (change->undo != NULL)
			weir_test_is_done(change->undo);
		before_bytes = weir_test_heap_bytes();
		if (weir_test_refuse_each(change->request, before_bytes, NULL) == 0)
			fail_msg("%s allocates nothing", change->request);
		if (change->undo != NULL)
			weir_test_refuse_each(change->undo, weir_test_heap_bytes(), NULL);
		weir_test_nothing_is_left(before_bytes);
	}
	weir_test_is_done(WEIR_TEST_RESET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(commands_of_which_an_allocation_fails_change_nothing,
					  weir_test_unconfigured),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
