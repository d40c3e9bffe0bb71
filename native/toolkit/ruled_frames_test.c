/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are not IPv4: which the rules are asked about, and what options say of others. */
#include "toolkit/ruled_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/packet.h"

enum kind { ARP, TAGGED_ARP, IPV6, SOLICITATION, FAR_SOLICITATION, OTHER, CUT, KINDS };

static struct rte_mbuf *
packet_of(enum kind kind)
{
	uint8_t frame[80] = {0};
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
	case SOLICITATION: /* of a neighbour, 24 bytes; with the hop limit of this link, or another
			    */
	case FAR_SOLICITATION:
		memcpy(frame + 12, (const uint8_t[]){0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, 58, 255},
		       10);
		frame[54] = 135;
		frame[21] = kind == SOLICITATION ? 255 : 254;
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

/* One letter for each kind that goes on, r for one that the rules are asked about. */
static const char *
passing(struct weir_ruled_frames options)
{
	static char letters[KINDS + 1];

	for (unsigned int kind = 0; kind < KINDS; kind++) {
		struct rte_mbuf *packet = packet_of(kind);
		struct weir_headers headers;
		enum weir_ruled ruled;

		weir_headers_parse(packet, &headers);
		ruled = weir_ruled_frame(&options, packet, &headers);
		letters[kind] = ruled == WEIR_RULED	     ? 'r'
				: ruled == WEIR_UNRULED_DROP ? '-'
							     : "aA6nfoc"[kind];
		rte_pktmbuf_free(packet);
	}
	return letters;
}

static void
rules_are_asked_about_ipv6_and_all_else_is_as_not_ipv4_says(void **state)
{
	(void)state;
	assert_string_equal(passing((struct weir_ruled_frames){0}), "--rrr--");
	assert_string_equal(passing((struct weir_ruled_frames){WEIR_NOT_IPV4_FORWARD}), "aArrroc");
}

static void
each_kind_can_be_told_apart(void **state)
{
	(void)state;
	assert_string_equal(passing((struct weir_ruled_frames){.arp = WEIR_KIND_FORWARD}),
			    "aArrr--");
	assert_string_equal(passing((struct weir_ruled_frames){.ipv6 = WEIR_IPV6_FORWARD}),
			    "--6nf--");
	assert_string_equal(passing((struct weir_ruled_frames){.ipv6 = WEIR_IPV6_DROP}), "-------");
	assert_string_equal(passing((struct weir_ruled_frames){.other = WEIR_KIND_FORWARD}),
			    "--rrroc");
	assert_string_equal(passing((struct weir_ruled_frames){.all = WEIR_NOT_IPV4_FORWARD,
							       .ipv6 = WEIR_IPV6_DROP}),
			    "aA---oc");
	assert_string_equal(passing((struct weir_ruled_frames){.all = WEIR_NOT_IPV4_FORWARD,
							       .ipv6 = WEIR_IPV6_AS_NOT_IPV4}),
			    "aA6nfoc");
}

static void
neighbor_discovery_of_this_link_can_be_told_apart_from_ipv6(void **state)
{
	(void)state;
	assert_string_equal(
		passing((struct weir_ruled_frames){.neighbor_discovery = WEIR_DISCOVERY_FORWARD}),
		"--rnr--");
	assert_string_equal(
		passing((struct weir_ruled_frames){.neighbor_discovery = WEIR_DISCOVERY_DROP}),
		"--r-r--");
	assert_string_equal(
		passing((struct weir_ruled_frames){.ipv6 = WEIR_IPV6_DROP,
						   .neighbor_discovery = WEIR_DISCOVERY_FORWARD}),
		"---n---");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_asked_about_ipv6_and_all_else_is_as_not_ipv4_says),
		cmocka_unit_test(each_kind_can_be_told_apart),
		cmocka_unit_test(neighbor_discovery_of_this_link_can_be_told_apart_from_ipv6),
	};

	return cmocka_run_group_tests_name("ruled_frames", tests, weir_test_eal, NULL);
}
