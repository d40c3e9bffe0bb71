/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the firewall: frames both ways, time, and rules that change to and fro. The first
 * byte of an input chooses options, a command's first byte the rules. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_firewall;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define RULE_FILES 3
static char paths[RULE_FILES][64];

static void
remove_files(void)
{
	for (unsigned int i = 0; i < RULE_FILES; i++)
		unlink(paths[i]);
}

static void
write_files(void)
{
	static const char *const rules[RULE_FILES] = {
		"permit any any any\n",
		"permit udp 192.0.2.0/24 any any 1-1024\npermit icmp any any\ndeny any any any\n",
		"deny any any any\n",
	};

	for (unsigned int i = 0; i < RULE_FILES; i++) {
		FILE *file;

		snprintf(paths[i], sizeof(paths[i]), "/tmp/firewall-fuzz-%d-%u.rules", getpid(), i);
		file = fopen(paths[i], "w");
		if (file == NULL || fputs(rules[i], file) < 0 || fclose(file) != 0)
			abort();
	}
	atexit(remove_files);
}

static void
reload(void *state, const uint8_t *bytes, size_t size)
{
	const struct weir_option_value argument = {"rules",
						   paths[size > 0 ? bytes[0] % RULE_FILES : 0]};

	weir_fuzz_command(&weir_nf_firewall, state, "reload", &argument, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const bool odd = size > 0 && (bytes[0] & 1) != 0;
	const struct weir_option_value options[] = {
		{"rules", paths[0]},
		{"sessions", "8"},
		{"fragments", "4"},
		{"tcp_syn_first", odd ? "true" : "false"},
		{"not_ipv4", size > 0 && (bytes[0] & 2) != 0 ? "drop" : "forward"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	if (paths[0][0] == '\0')
		write_files();
	state = weir_nf_create(&weir_nf_firewall, options, 5, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_firewall, state, bytes + 1, size - 1, reload);
	weir_nf_destroy(&weir_nf_firewall, state);
	return 0;
}
