/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of acl: frames both ways, rules that change. The first byte of an input chooses
 * options; a list of rules may follow, as text. A command's bytes are the text of the file that is
 * reloaded, or behind an equals sign that of changes. */
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_acl;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
change_rules(void *state, const uint8_t *bytes, size_t size)
{
	bool single = size > 0 && bytes[0] == '=';
	const struct weir_option_value argument = {single ? "changes" : "rules",
						   weir_fuzz_file(bytes + single, size - single)};

	weir_fuzz_command(&weir_nf_acl, state, single ? "change" : "reload", &argument, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const directions[] = {"both", "outbound", "inbound"};
	static const char good_list[] = "deny tcp 192.0.2.0/24 any any 80, permit udp any any,"
					"permit any 192.0.2.0/24 198.51.100.0/24";
	const uint8_t chosen = size > 0 ? bytes[0] : 0;
	const bool any_list = (chosen & 32) != 0;
	char list[WEIR_FUZZ_TEXT_BYTES] = "";
	size_t used = 1;
	const struct weir_option_value options[] = {
		{"default", (chosen & 1) != 0 ? "deny" : "permit"},
		{"not_ipv4", (chosen & 2) != 0 ? "drop" : "forward"},
		{"direction", directions[chosen / 4 % 3]},
		{"fragments", "4"},
		{"rule_list", !any_list && (chosen & 16) != 0 ? good_list : list},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	if (any_list)
		used += weir_fuzz_text(bytes + 1, size - 1, list);
	state = weir_nf_create(&weir_nf_acl, options, RTE_DIM(options), "options", &error);
	if (state == NULL && !any_list)
		abort();
	if (state == NULL)
		return 0;
	weir_fuzz_run(&weir_nf_acl, state, bytes + used, size - used, change_rules);
	weir_nf_destroy(&weir_nf_acl, state);
	return 0;
}
