/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the shaper: the list of tenants is the input's first line, if it can be read;
 * records of frames and time follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_shaper;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = memchr(bytes, '\n', size);
	size_t length = end != NULL ? (size_t)(end - bytes) : 0;
	char tenants[WEIR_OPTION_TEXT_BYTES];
	const struct weir_option_value options[] = {
		{"tenants", tenants},
		{"queue_packets", length % 2 != 0 ? "1" : "8"},
	};
	struct weir_error error;
	void *state;

	snprintf(tenants, sizeof(tenants), "%.*s", (int)length, (const char *)bytes);
	state = weir_nf_create(&weir_nf_shaper, options, 2, "options", &error);
	if (state == NULL)
		return 0;
	weir_fuzz_run(&weir_nf_shaper, state, bytes + length + 1, size - length - 1, NULL);
	weir_nf_destroy(&weir_nf_shaper, state);
	return 0;
}
