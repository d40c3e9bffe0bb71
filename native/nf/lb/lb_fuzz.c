/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the balancer: frames both ways, time, back-ends that come and go. The first byte
 * of an input chooses options; a command's first byte what is done and its second with which one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_lb;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
change_backend(void *state, const uint8_t *bytes, size_t size)
{
	static const char *const names[] = {"backend-add", "backend-drain", "backend-remove"};
	char backend[32];
	const struct weir_option_value arguments[] = {{"service", "203.0.113.10:80/tcp"},
						      {"backend", backend}};

	if (size < 2)
		return;
	snprintf(backend, sizeof(backend), "10.0.0.%u:8080", bytes[1] % 4);
	weir_fuzz_command(&weir_nf_lb, state, names[bytes[0] % 3], arguments, 2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weir_option_value options[] = {
		{"services", "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8080,"
			     "203.0.113.10:53/udp 10.0.0.1:53"},
		{"table_size", "31"},
		{"connections_max", "8"},
		{"other", size > 0 && (bytes[0] & 1) != 0 ? "drop" : "forward"},
		{"when_full", size > 0 && (bytes[0] & 2) != 0 ? "drop" : "stateless"},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_lb, options, 5, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_lb, state, bytes + 1, size - 1, change_backend);
	weir_nf_destroy(&weir_nf_lb, state);
	return 0;
}
