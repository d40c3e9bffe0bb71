/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the firewall: frames both ways, time, and rules that change to and fro. The first
 * byte of an input chooses options; a command's first byte the rules, or its others are their text,
 * or that of changes behind an equals sign. */
#include <stdlib.h>
#include <string.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_firewall;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const rules[] = {
	"permit any any any\n",
	"permit udp 192.0.2.0/24 any any 1-1024\npermit icmp any any\ndeny any any any\n",
	"deny any any any\n",
};

static void
change_rules(void *state, const uint8_t *bytes, size_t size)
{
	if (size > 1 && bytes[0] == '=') {
		const struct weir_option_value changes = {"changes",
							  weir_fuzz_file(bytes + 1, size - 1)};

		weir_fuzz_command(&weir_nf_firewall, state, "change", &changes, 1);
		return;
	}
	const char *known = rules[size > 0 ? bytes[0] % RTE_DIM(rules) : 0];
	const struct weir_option_value argument = {"rules",
						   size > 1 ? weir_fuzz_file(bytes + 1, size - 1)
							    : weir_fuzz_file(known, strlen(known))};

	weir_fuzz_command(&weir_nf_firewall, state, "reload", &argument, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const bool odd = size > 0 && (bytes[0] & 1) != 0;
	const struct weir_option_value options[] = {
		{"rules", weir_fuzz_file(rules[0], strlen(rules[0]))},
		{"sessions", "8"},
		{"fragments", "4"},
		{"tcp_syn_first", odd ? "true" : "false"},
		{"not_ipv4", size > 0 && (bytes[0] & 2) != 0 ? "drop" : "forward"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_firewall, options, 5, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_firewall, state, bytes + 1, size - 1, change_rules);
	weir_nf_destroy(&weir_nf_firewall, state);
	return 0;
}
