/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of l3fwd: frames both ways, routes that come and go. The first byte of an input
 * chooses whether there is a default next hop. A command's first byte says what is done; then a
 * length and an address follow for single routes, or the text of a whole file.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_l3fwd;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A file that is there while the target runs, and the name by which options find it. */
static const char *
routes_file(const uint8_t *bytes, size_t size)
{
	static FILE *file;
	static char name[32];

	if (file == NULL) {
		file = tmpfile();
		if (file == NULL)
			abort();
		snprintf(name, sizeof(name), "/dev/fd/%d", fileno(file));
	}
	if (ftruncate(fileno(file), 0) < 0 || pwrite(fileno(file), bytes, size, 0) < 0)
		abort();
	return name;
}

/* Any length and address; bits beyond the length are cleared two times of three. */
static void
prefix_of(const uint8_t *bytes, size_t size, bool ipv6, char *text, size_t text_size)
{
	unsigned int bits = ipv6 ? 128 : 32;
	unsigned int length = bytes[0] % (bits + 1);
	uint8_t address[16] = {0};
	char digits[INET6_ADDRSTRLEN];

	memcpy(address, bytes + 1, size - 1 < bits / 8 ? size - 1 : bits / 8);
	for (unsigned int bit = length; bit < bits && bytes[0] % 3 != 0; bit++)
		address[bit / 8] &= ~(0x80 >> bit % 8);
	inet_ntop(ipv6 ? AF_INET6 : AF_INET, address, digits, sizeof(digits));
	snprintf(text, text_size, "%s/%u", digits, length);
}

static void
change(void *state, const uint8_t *bytes, size_t size)
{
	char prefix[INET6_ADDRSTRLEN + 8], next_hop[18];
	struct weir_option_value arguments[2] = {{"prefix", prefix}, {"next_hop", next_hop}};

	if (size < 2)
		return;
	if (bytes[0] % 8 == 7) {
		arguments[0] =
			(struct weir_option_value){"routes", routes_file(bytes + 1, size - 1)};
		weir_fuzz_command(&weir_nf_l3fwd, state, "routes-load", arguments, 1);
		return;
	}
	prefix_of(bytes + 1, size - 1, bytes[0] & 1, prefix, sizeof(prefix));
	snprintf(next_hop, sizeof(next_hop), "02:00:00:00:00:%02x", bytes[0] >> 4);
	if ((bytes[0] & 2) != 0)
		weir_fuzz_command(&weir_nf_l3fwd, state, "route-delete", arguments, 1);
	else
		weir_fuzz_command(&weir_nf_l3fwd, state, "route-add", arguments, 2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char empty[] = "";
	const bool routed = size > 0 && (bytes[0] & 1) != 0;
	const struct weir_option_value options[] = {
		{"src_mac", "02:00:00:00:00:aa"}, {"ipv4_routes_max", "64"},
		{"ipv4_groups_max", "4"},	  {"ipv6_routes_max", "64"},
		{"ipv6_groups_max", "16"},	  {"next_hops_max", "8"},
		{"dst_mac", "02:00:00:00:00:bb"}, {"routes", routes_file((const void *)empty, 0)},
	};
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	state = weir_nf_create(&weir_nf_l3fwd, options, routed ? 8 : 7, "options", &error);
	if (state == NULL)
		abort();
	weir_fuzz_run(&weir_nf_l3fwd, state, bytes + 1, size - 1, change);
	weir_nf_destroy(&weir_nf_l3fwd, state);
	return 0;
}
