/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the NAT: frames both ways, time, static mappings that come and go. The first byte
 * of an input chooses options; a command's first byte what is done and its second to which port. */
#include <stdio.h>
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_nat;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
change(void *state, const uint8_t *bytes, size_t size)
{
	static const char *const names[] = {"flush", "static-add", "static-delete"};
	char port[8], inside[32];
	const struct weir_option_value arguments[] = {
		{"protocol", size > 1 && (bytes[1] & 1) != 0 ? "udp" : "tcp"},
		{"external_port", port},
		{"inside", inside},
	};
	unsigned int which;

	if (size < 2)
		return;
	which = bytes[0] % 3;
	snprintf(port, sizeof(port), "%u", 3000 + bytes[1] % 8);
	snprintf(inside, sizeof(inside), "10.0.0.%u", 1 + bytes[1] % 4);
	weir_fuzz_command(&weir_nf_nat, state, names[which], arguments,
			  which == 0   ? 0
			  : which == 1 ? 3
				       : 2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const filtering[] = {"endpoint-independent", "address-dependent",
						"address-and-port-dependent",
						"endpoint-independent"};
	const uint8_t choice = size > 0 ? bytes[0] : 0;
	const struct weir_option_value options[] = {
		{"external", "203.0.113.0/31"},
		{"port_min", "3000"},
		{"port_max", "3007"},
		{"sessions", "8"},
		{"remotes", "8"},
		{"fragments", "4"},
		{"filtering", filtering[choice & 3]},
		{"lanes", (choice & 4) != 0 ? "4" : "1"},
		{"inbound_refresh", (choice & 8) != 0 ? "true" : "false"},
		{"subscriber_ports", (choice & 16) != 0 ? "3" : "0"},
		{"addresses",
		 (choice & 16) != 0 ? "203.0.113.4 10.0.0.3, 203.0.113.5 10.0.0.4" : ""},
		{"hairpin_output", (choice & 32) != 0 ? "1" : "0"},
		{"untranslated", (choice & 64) != 0 ? "10.0.0.2/31, 10.1.0.0/16" : ""},
		{"forwards", (choice & 128) != 0 ? "udp 203.0.113.0:3001 10.0.0.1:7" : ""},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_nat, options, RTE_DIM(options), "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_nat, state, bytes + 1, size - 1, change);
	weir_nf_destroy(&weir_nf_nat, state);
	return 0;
}
