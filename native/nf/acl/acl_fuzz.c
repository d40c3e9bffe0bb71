/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of acl: frames both ways. The first byte of an input chooses options. */
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_acl;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const directions[] = {"both", "outbound", "inbound"};
	const uint8_t chosen = size > 0 ? bytes[0] : 0;
	const struct weir_option_value options[] = {
		{"default", (chosen & 1) != 0 ? "deny" : "permit"},
		{"not_ipv4", (chosen & 2) != 0 ? "drop" : "forward"},
		{"direction", directions[chosen / 4 % 3]},
		{"fragments", "4"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_acl, options, 4, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_acl, state, bytes + 1, size - 1, NULL);
	weir_nf_destroy(&weir_nf_acl, state);
	return 0;
}
