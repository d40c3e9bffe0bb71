/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the user plane function: frames both ways, time, and changes of sessions (a byte
 * that says which, and the command's text). The first byte of an input chooses options. */
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_upf;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
change(void *state, const uint8_t *bytes, size_t size)
{
	char text[WEIR_FUZZ_TEXT_BYTES];
	const struct weir_option_value value = {.name = "sessions", .text = text};

	if (size == 0)
		return;
	weir_fuzz_text(bytes + 1, size - 1, text);
	weir_fuzz_command(&weir_nf_upf, state,
			  weir_nf_upf.commands[bytes[0] % weir_nf_upf.command_count].name, &value,
			  1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weir_option_value options[] = {
		{"sessions", "4"},
		{"sessions_max", "9"},
		{"buffer_packets", "3"},
		{"buffer_packets_max", "4"},
		{"pdu_session_container", size > 0 && (bytes[0] & 1) != 0 ? "false" : "true"},
		{"other", size > 0 && (bytes[0] & 2) != 0 ? "forward" : "drop"},
		{"mbr_uplink_bps", size > 0 && (bytes[0] & 4) != 0 ? "8000" : "0"},
		{"mbr_downlink_bps", size > 0 && (bytes[0] & 8) != 0 ? "8000" : "0"},
		{"n3_mtu_bytes", size > 0 && (bytes[0] & 16) != 0 ? "600" : "9000"},
		{"ue_first_prefix",
		 size > 0 && (bytes[0] & 64) != 0 ? "2001:db8::1/128" : "2001:db8:0:1::/64"},
		{"flow_list",
		 size > 0 && (bytes[0] & 32) != 0
			 ? "permit out 17 from any 53 to assigned qfi=5,"
			   "permit out ip from 198.18.0.0/15 to any mbr_uplink_bps=9000,"
			   "permit out 17 from 2001:db8:9::/48 to any qfi=7"
			 : ""},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_upf, options, RTE_DIM(options), "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_upf, state, bytes + 1, size - 1, change);
	weir_nf_destroy(&weir_nf_upf, state);
	return 0;
}
