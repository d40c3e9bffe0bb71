/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of dpi: frames both ways, time, other rules. The first byte of an input chooses
 * options; a command's bytes are the text of the rules that come. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_dpi;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char rules_path[] = "/tmp/weir-dpi-fuzz-XXXXXX";

static void
write_rules(const void *text, size_t size)
{
	static int file = -1;

	if (file < 0)
		file = mkstemp(rules_path);
	if (file < 0 || ftruncate(file, 0) < 0 || pwrite(file, text, size, 0) != (ssize_t)size)
		abort();
}

static void
load_rules(void *state, const uint8_t *bytes, size_t size)
{
	const struct weir_option_value arguments[] = {{"rules_file", rules_path}};

	write_rules(bytes, size);
	weir_fuzz_command(&weir_nf_dpi, state, "rules-load", arguments, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char rules[] = "1 permit flow tcp 10.0.0.0/8 any any 22\n"
				    "2 drop /bad [a-z]+/i\n"
				    "3 label /GET/\n"
				    "4 drop application DNS\n"
				    "5 label flow any any any\n";
	const struct weir_option_value options[] = {
		{"rules_file", rules_path},
		{"flows_max", "4"},
		{"inspections_max", "2"},
		{"charges_max", "3"},
		{"packets_max", size > 0 && (bytes[0] & 1) != 0 ? "1" : "3"},
		{"applications", size > 0 && (bytes[0] & 2) != 0 ? "false" : "true"},
		{"ipv6", size > 0 && (bytes[0] & 4) != 0 ? "drop" : "forward"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	write_rules(rules, sizeof(rules) - 1);
	state = weir_nf_create(&weir_nf_dpi, options, 7, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_dpi, state, bytes + 1, size - 1, load_rules);
	weir_nf_destroy(&weir_nf_dpi, state);
	return 0;
}
