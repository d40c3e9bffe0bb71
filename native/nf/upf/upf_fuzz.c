/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the user plane function: frames both ways, and time. The first byte of an input
 * chooses options. */
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_upf;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weir_option_value options[] = {
		{"sessions", "4"},
		{"pdu_session_container", size > 0 && (bytes[0] & 1) != 0 ? "false" : "true"},
		{"other", size > 0 && (bytes[0] & 2) != 0 ? "forward" : "drop"},
		{"mbr_uplink_bps", size > 0 && (bytes[0] & 4) != 0 ? "8000" : "0"},
		{"mbr_downlink_bps", size > 0 && (bytes[0] & 8) != 0 ? "8000" : "0"},
		{"n3_mtu_bytes", size > 0 && (bytes[0] & 16) != 0 ? "600" : "9000"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_upf, options, 6, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_upf, state, bytes + 1, size - 1, NULL);
	weir_nf_destroy(&weir_nf_upf, state);
	return 0;
}
