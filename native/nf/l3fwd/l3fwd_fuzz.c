/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of l3fwd: frames both ways, routes that come and go. The first byte of an input
 * chooses where the first routes are from, the input's own text among it, the inside output, and
 * whether the router has addresses; these are then the input's own text, or good ones. A
 * command's first byte says what is done; then a length and an address follow for single routes, or
 * the text of a whole file.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/fuzz.h"

extern const struct weir_nf weir_nf_l3fwd;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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
			(struct weir_option_value){"routes", weir_fuzz_file(bytes + 1, size - 1)};
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

/* Lists of routes, and a file. */
enum source { NO_ROUTES, EMPTY_FILE, GOOD_LIST, ANY_LIST };
static const char good_list[] = "198.51.100.0/24 02:00:00:00:00:01 1, 198.51.100.128/25 default 2,"
				"2001:db8::/32 02:00:00:00:00:02 3, 0.0.0.0/0 default";
static const char good_list_of_station[] = "0.0.0.0/0 via 10.0.2.2, ::/0 via 2001:db8:2::2, "
					   "198.51.100.0/24 02:00:00:00:00:01";

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const inside_outputs[] = {"0", "1", "2", "3"};
	const uint8_t choice = size > 0 ? bytes[0] : 0;
	const enum source source = choice & 3;
	const bool has_addresses = (choice & 16) != 0, any_addresses = (choice & 32) != 0;
	char list[WEIR_FUZZ_TEXT_BYTES], addresses[WEIR_FUZZ_TEXT_BYTES];
	struct weir_option_value options[] = {
		{"src_mac", "02:00:00:00:00:aa"},
		{"ipv4_routes_max", "64"},
		{"ipv4_groups_max", "4"},
		{"ipv6_routes_max", "64"},
		{"ipv6_groups_max", "64"},
		{"next_hops_max", "8"},
		{"dst_mac", "02:00:00:00:00:bb"},
		{"inbound_dst_mac", "02:00:00:00:00:cc"},
		{"inside_output", inside_outputs[choice / 4 % 4]},
		{"route_list", good_list},
		{"inbound_src_mac", "02:00:00:00:00:a1"},
		{"neighbours_max", "4"},
		{"mtu_bytes", "600"},
		{"icmp_errors_pps", "100000"},
		{"inbound_addresses", "10.0.1.1/24, 2001:db8:1::1/64"},
		{"addresses", "10.0.2.1/24, 2001:db8:2::1/64"},
	};
	const unsigned int of_stations = 6;
	unsigned int count = RTE_DIM(options);
	size_t used = 1;
	struct weir_error error;
	void *state;

	if (size == 0)
		return 0;
	if (!has_addresses)
		count -= of_stations;
	else if (source == GOOD_LIST)
		options[RTE_DIM(options) - of_stations - 1].text = good_list_of_station;
	if (source == NO_ROUTES)
		options[RTE_DIM(options) - of_stations - 1] = options[0];
	else if (source == EMPTY_FILE)
		options[RTE_DIM(options) - of_stations - 1] =
			(struct weir_option_value){"routes", weir_fuzz_file("", 0)};
	else if (source == ANY_LIST) {
		used += weir_fuzz_text(bytes + 1, size - 1, list);
		options[RTE_DIM(options) - of_stations - 1].text = list;
	}
	if (has_addresses && any_addresses) {
		used += weir_fuzz_text(bytes + used, size - used, addresses);
		options[RTE_DIM(options) - 1].text = addresses;
	}
	state = weir_nf_create(&weir_nf_l3fwd, options, count, "options", &error);
	if (state == NULL && source != ANY_LIST && !any_addresses &&
	    (!has_addresses || choice / 4 % 4 != 0))
		abort();
	if (state == NULL)
		return 0;
	weir_fuzz_run(&weir_nf_l3fwd, state, bytes + used, size - used, change);
	weir_nf_destroy(&weir_nf_l3fwd, state);
	return 0;
}
