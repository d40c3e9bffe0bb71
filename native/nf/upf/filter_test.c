/* SPDX-License-Identifier: Apache-2.0 */
/* Flow descriptions are read as RFC 6733 and TS 29.212 have them, and packets fit them or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_common.h>
#include <rte_ip.h>

#include "filter.h"

static struct upf_filter
read_whole(const char *text)
{
	struct upf_filter filter;

	assert_null(upf_filter_read(text, strlen(text), &filter));
	return filter;
}

static struct weir_ip_address
address(const char *text)
{
	const bool ipv6 = strchr(text, ':') != NULL;
	uint8_t bytes[16];

	assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, text, bytes), 1);
	return weir_ip_address(bytes, ipv6);
}

static void
assert_address(struct weir_ip_address one, const char *text)
{
	const struct weir_ip_address other = address(text);

	assert_true(weir_ip_address_is(&one, &other));
}

static struct upf_filtered
packet(uint8_t protocol, const char *network, uint16_t network_port, uint16_t ue_port)
{
	return (struct upf_filtered){.network_ip = address(network),
				     .ue_ip = address("10.46.0.1"),
				     .network_port = network_port,
				     .ue_port = ue_port,
				     .has_ports =
					     protocol == IPPROTO_UDP || protocol == IPPROTO_TCP,
				     .protocol = protocol};
}

static bool
fits(const char *text, struct upf_filtered one)
{
	const struct upf_filter filter = read_whole(text);

	return upf_filter_fits(&filter, &one);
}

static void
addresses_protocols_and_ports_are_compared(void **state)
{
	const struct upf_filtered dns = packet(IPPROTO_UDP, "203.0.113.9", 53, 4000);

	(void)state;
	assert_true(fits("permit out ip from any to assigned", dns));
	assert_true(fits("permit out ip from any to any", packet(IPPROTO_ICMP, "1.2.3.4", 0, 0)));
	assert_true(fits("permit out 17 from 203.0.113.0/24 53 to 10.46.0.0/16", dns));
	assert_true(fits("permit out 17 from 203.0.113.77/0 to assigned 1-4000", dns));
	assert_true(fits("permit out 17 from any 1,2-9,50-53,99 to assigned 4000", dns));
	assert_false(fits("permit out 6 from any to assigned", dns));
	assert_false(fits("permit out ip from 203.0.113.9 to 10.46.0.2", dns));
	assert_false(fits("permit out ip from 203.0.113.0/29 to assigned", dns));
	assert_false(fits("permit out 17 from any 54-65535 to assigned", dns));
	assert_false(fits("permit out 17 from any to assigned 0-3999", dns));
}

/* A later fragment has no ports, nor has ICMP. */
static void
what_has_no_ports_fits_no_filter_that_gives_some(void **state)
{
	struct upf_filtered one = packet(IPPROTO_UDP, "203.0.113.9", 0, 0);

	(void)state;
	one.has_ports = false;
	assert_false(fits("permit out 17 from any 0-65535 to assigned", one));
	assert_true(fits("permit out 17 from any to assigned", one));
}

static void
a_packet_is_read_from_the_side_that_it_comes_from(void **state)
{
	uint8_t ip[24] = {0x45, 0xb8, 0, 24, 0,	  0, 0x40, 0, 64,   IPPROTO_TCP, 0, 0,
			  10,	46,   0, 1,  203, 0, 113,  9, 0x0f, 0xa0,	 0, 80};
	struct upf_filtered one = upf_filtered_read(ip, sizeof(ip), true);

	(void)state;
	assert_address(one.ue_ip, "10.46.0.1");
	assert_address(one.network_ip, "203.0.113.9");
	assert_int_equal(one.ue_port, 4000);
	assert_int_equal(one.network_port, 80);
	assert_int_equal(one.tos, 0xb8);
	assert_true(one.has_ports);
	one = upf_filtered_read(ip, sizeof(ip), false);
	assert_address(one.ue_ip, "203.0.113.9");
	assert_int_equal(one.ue_port, 80);
	assert_false(upf_filtered_read(ip, sizeof(ip) - 1, true).has_ports); /* cut */
	ip[7] = 1;							     /* a later fragment */
	assert_false(upf_filtered_read(ip, sizeof(ip), true).has_ports);
}

static struct upf_filtered
packet_of_ipv6(const char *network)
{
	struct upf_filtered one = packet(IPPROTO_UDP, network, 53, 4000);

	one.ue_ip = address("2001:db8:5:1::7");
	one.flow_label = 0x12345;
	return one;
}

static void
prefixes_of_ipv6_are_compared_bit_by_bit_and_never_with_ipv4(void **state)
{
	const struct upf_filtered dns = packet_of_ipv6("2001:db8:9:ffff::35");
	const struct upf_filtered of_ipv4 = packet(IPPROTO_UDP, "32.1.13.184", 53, 4000);

	(void)state;
	assert_true(fits("permit out ip from any to assigned", dns));
	assert_true(fits("permit out 17 from 2001:db8::/32 53 to assigned", dns));
	assert_true(fits("permit out ip from 2001:db8:8::/47 to any", dns));
	assert_false(fits("permit out ip from 2001:db8:8::/48 to any", dns));
	assert_true(fits("permit out ip from 2001:db8:9:ffff::35 to 2001:db8:5:1::/64", dns));
	assert_false(fits("permit out ip from 2001:db8:9:ffff::34 to any", dns));
	assert_false(fits("permit out ip from any to 2001:db8:5::/64", dns));
	assert_true(fits("permit out ip from ::/0 to assigned", dns));
	assert_false(fits("permit out ip from ::/0 to assigned", of_ipv4));
	assert_false(fits("permit out ip from 0.0.0.0/0 to assigned", dns));
	assert_false(fits("permit out ip from 2001:db8::/32 to assigned", of_ipv4));
}

static void
flow_labels_and_security_parameter_indexes_are_those_of_packets_that_have_them(void **state)
{
	struct upf_filter filter = UPF_FILTER_OF_ALL;
	struct upf_filtered one = packet_of_ipv6("2001:db8::1");
	uint8_t ah[32] = {0x45,	      0,	 0, 32, 0, 0, 0, 0, 64,
			  IPPROTO_AH, [20] = 17, 4, 0,	0, 0, 0, 1, 2};

	(void)state;
	filter.has_flow_label = true;
	filter.flow_label = 0x12345;
	assert_true(upf_filter_fits(&filter, &one));
	one.flow_label = 0x12344;
	assert_false(upf_filter_fits(&filter, &one));
	one = upf_filtered_read(ah, sizeof(ah), true);
	assert_false(upf_filter_fits(&filter, &one)); /* IPv4 has no label */
	filter = UPF_FILTER_OF_ALL;
	filter.has_spi = true;
	filter.spi = 0x102;
	assert_true(upf_filter_fits(&filter, &one));
	filter.spi = 0x103;
	assert_false(upf_filter_fits(&filter, &one));
	one = upf_filtered_read(ah, 27, true); /* cut */
	filter.spi = 0;
	assert_false(upf_filter_fits(&filter, &one));
}

/* Hop-by-hop options, then a fragment header. */
static void
what_ipv6_carries_is_read_behind_its_extension_headers(void **state)
{
	uint8_t ip[60] = {0x6b, 0x81, 0x23, 0x45, 0, 20, IPPROTO_HOPOPTS, 64, 0x20, 0x01};
	struct upf_filtered one;

	(void)state;
	ip[23] = 1;    /* from 2001::1 */
	ip[24] = 0xfd; /* to fd00:: */
	ip[40] = IPPROTO_FRAGMENT;
	ip[48] = IPPROTO_UDP;
	ip[56] = 0x0f;
	ip[57] = 0xa0;
	ip[59] = 53;
	one = upf_filtered_read(ip, sizeof(ip), true);
	assert_address(one.ue_ip, "2001::1");
	assert_address(one.network_ip, "fd00::");
	assert_int_equal(one.protocol, IPPROTO_UDP);
	assert_int_equal(one.tos, 0xb8);
	assert_int_equal(one.flow_label, 0x12345);
	assert_true(one.has_ports);
	assert_int_equal(one.ue_port, 4000);
	assert_int_equal(one.network_port, 53);
	assert_false(upf_filtered_read(ip, sizeof(ip) - 1, true).has_ports); /* cut */
	ip[51] = 8;							     /* a later fragment */
	assert_false(upf_filtered_read(ip, sizeof(ip), true).has_ports);
	assert_int_equal(upf_filtered_read(ip, sizeof(ip), true).protocol, IPPROTO_UDP);
}

static void
what_is_no_flow_description_is_refused_with_what_is_wrong(void **state)
{
	static const char *const wrong[] = {
		"",
		"permit",
		"permit in ip from any to any",
		"deny out ip from any to any",
		"permit out 256 from any to any",
		"permit out udp from any to any",
		"permit out ip from any",
		"permit out ip from any to",
		"permit out ip from assigned to any",
		"permit out ip from 1.2.3 to any",
		"permit out ip from 1.2.3.4/33 to any",
		"permit out ip from 2001:db8::/129 to any",
		"permit out ip from 2001:db8:::1 to any",
		"permit out ip from 2001:db8::1 to 1.2.3.4",
		"permit out ip from 1.2.3.4/ to any",
		"permit out ip from !1.2.3.4 to any",
		"permit out ip from any 65536 to any",
		"permit out ip from any 5- to any",
		"permit out ip from any 5-4 to any",
		"permit out ip from any 5, to any",
		"permit out ip from any 5,,6 to any",
		"permit out ip from any 1,2,3,4,5 to any",
		"permit out ip from any to any 7 established",
		"permit out ip from any to any established",
	};
	struct upf_filter filter;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		if (upf_filter_read(wrong[i], strlen(wrong[i]), &filter) == NULL)
			fail_msg("'%s' is taken", wrong[i]);
	}
	assert_non_null(upf_filter_read("permit out ip from any to any\0", 30, &filter));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_protocols_and_ports_are_compared),
		cmocka_unit_test(what_has_no_ports_fits_no_filter_that_gives_some),
		cmocka_unit_test(a_packet_is_read_from_the_side_that_it_comes_from),
		cmocka_unit_test(prefixes_of_ipv6_are_compared_bit_by_bit_and_never_with_ipv4),
		cmocka_unit_test(
			flow_labels_and_security_parameter_indexes_are_those_of_packets_that_have_them),
		cmocka_unit_test(what_ipv6_carries_is_read_behind_its_extension_headers),
		cmocka_unit_test(what_is_no_flow_description_is_refused_with_what_is_wrong),
	};

	return cmocka_run_group_tests_name("upf-filter", tests, NULL, NULL);
}
