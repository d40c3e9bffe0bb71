/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of impair: the first bytes are options, records of frames and time follow. */
#include <stdio.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_impair;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const distributions[] = {"constant", "uniform", "alternate",
						    "exponential"};
	char delay_ns[24], spread_ns[24], queue_packets[24], drop_every[24];
	struct weir_error error;
	void *state;

	if (size < 5)
		return 0;
	snprintf(delay_ns, sizeof(delay_ns), "%llu", bytes[0] * 10000000ull);
	snprintf(spread_ns, sizeof(spread_ns), "%llu", bytes[1] * 10000000ull);
	snprintf(queue_packets, sizeof(queue_packets), "%u", bytes[2]);
	snprintf(drop_every, sizeof(drop_every), "%u", bytes[3]);
	const struct weir_option_value options[] = {
		{"delay_ns", delay_ns},
		{"spread_ns", spread_ns},
		{"queue_packets", queue_packets},
		{"drop_every", drop_every},
		{"distribution", distributions[bytes[4] % 4]},
	};

	state = weir_nf_create(&weir_nf_impair, options, 5, "options", &error);
	if (state == NULL)
		return 0;
	weir_fuzz_run(&weir_nf_impair, state, bytes + 5, size - 5, NULL);
	weir_nf_destroy(&weir_nf_impair, state);
	return 0;
}
