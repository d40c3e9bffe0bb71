/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of dpi: frames both ways, time, other rules. The first byte of an input chooses
 * options; a command's bytes are the text of the rules that come. */
#include <stdlib.h>

#include <rte_cycles.h>

#include "testing/fuzz.h"
#include "testing/report.h"

extern const struct weir_nf weir_nf_dpi;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char rules[] = "1 permit flow tcp 10.0.0.0/8 any any 22\n"
			    "2 drop /bad [a-z]+/i\n"
			    "3 label /GET/\n"
			    "4 drop application DNS\n"
			    "5 label flow any any any\n";

static void
load_rules(void *state, const uint8_t *bytes, size_t size)
{
	const struct weir_option_value arguments[] = {{"rules_file", weir_fuzz_file(bytes, size)}};

	weir_fuzz_command(&weir_nf_dpi, state, "rules-load", arguments, 1);
}

/* Made once for each choice of options: nDPI takes long to start. */
static void *
state_with(unsigned int choice)
{
	static void *states[8];
	const struct weir_option_value options[] = {
		{"rules_file", weir_fuzz_file(rules, sizeof(rules) - 1)},
		{"flows_max", "4"},
		{"inspections_max", "2"},
		{"charges_max", "3"},
		{"packets_max", (choice & 1) != 0 ? "1" : "3"},
		{"applications", (choice & 2) != 0 ? "false" : "true"},
		{"ipv6", (choice & 4) != 0 ? "drop" : "forward"},
	};
	struct weir_error error;

	if (states[choice] == NULL)
		states[choice] =
			weir_nf_create(&weir_nf_dpi, options, RTE_DIM(options), "options", &error);
	if (states[choice] == NULL)
		abort();
	return states[choice];
}

/* So that the next input finds nothing of this one: everything times out, and the rules are those
 * of the beginning. */
static void
forget_all(void *state)
{
	for (unsigned int i = 1; i <= 3; i++)
		weir_nf_dpi.tick(state, (1 + i) * 1000000 * rte_get_tsc_hz(), NULL);
	if (weir_test_figure(&weir_nf_dpi, state, "flows") != 0 ||
	    weir_test_figure(&weir_nf_dpi, state, "inspections") != 0 ||
	    weir_test_figure(&weir_nf_dpi, state, "charges") != 0)
		abort();
	load_rules(state, (const uint8_t *)rules, sizeof(rules) - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	void *state;

	if (size == 0)
		return 0;
	state = state_with(bytes[0] % 8);
	weir_fuzz_run(&weir_nf_dpi, state, bytes + 1, size - 1, load_rules);
	forget_all(state);
	return 0;
}
