/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are not IPv4, and what the options say of each kind. */
#include "toolkit/not_ipv4.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/packet.h"

enum kind { ARP, TAGGED_ARP, IPV6, OTHER, CUT, KINDS };

static struct rte_mbuf *
packet_of(enum kind kind)
{
	uint8_t frame[60] = {0};
	size_t bytes = sizeof(frame);

	switch (kind) {
	case ARP:
		memcpy(frame + 12, (const uint8_t[]){0x08, 0x06}, 2);
		break;
	case TAGGED_ARP:
		memcpy(frame + 12, (const uint8_t[]){0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 6}, 10);
		break;
	case IPV6:
		memcpy(frame + 12, (const uint8_t[]){0x86, 0xdd, 0x60}, 3);
		break;
	case CUT:
		memcpy(frame + 12, (const uint8_t[]){0x81}, 1);
		bytes = 13;
		break;
	default:
		memcpy(frame + 12, (const uint8_t[]){0x88, 0xcc}, 2); /* LLDP */
	}
	return weir_test_packet(frame, bytes);
}

/* One letter for each kind: which go on. */
static const char *
passing(struct weir_not_ipv4_options options)
{
	static char letters[KINDS + 1];

	for (unsigned int kind = 0; kind < KINDS; kind++) {
		struct rte_mbuf *packet = packet_of(kind);
		struct weir_headers headers;

		weir_headers_parse(packet, &headers);
		letters[kind] =
			weir_not_ipv4_forwards(&options, packet, &headers) ? "aA6oc"[kind] : '-';
		rte_pktmbuf_free(packet);
	}
	return letters;
}

static void
all_kinds_are_as_not_ipv4_says_where_nothing_else_is_said(void **state)
{
	(void)state;
	assert_string_equal(passing((struct weir_not_ipv4_options){0}), "-----");
	assert_string_equal(passing((struct weir_not_ipv4_options){WEIR_NOT_IPV4_FORWARD}),
			    "aA6oc");
}

static void
each_kind_can_be_told_apart(void **state)
{
	(void)state;
	assert_string_equal(passing((struct weir_not_ipv4_options){.arp = WEIR_KIND_FORWARD}),
			    "aA---");
	assert_string_equal(passing((struct weir_not_ipv4_options){.ipv6 = WEIR_KIND_FORWARD}),
			    "--6--");
	assert_string_equal(passing((struct weir_not_ipv4_options){.other = WEIR_KIND_FORWARD}),
			    "---oc");
	assert_string_equal(passing((struct weir_not_ipv4_options){.all = WEIR_NOT_IPV4_FORWARD,
								   .ipv6 = WEIR_KIND_DROP}),
			    "aA-oc");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_as_not_ipv4_says_where_nothing_else_is_said),
		cmocka_unit_test(each_kind_can_be_told_apart),
	};

	return cmocka_run_group_tests_name("not_ipv4", tests, weir_test_eal, NULL);
}
