/* SPDX-License-Identifier: Apache-2.0 */
/* Later fragments, which have no ports, share the decision on the first one. */
#include "acl_fixture_test.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <netinet/in.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ip.h>

static void
later_fragments_of_ipv6_follow_the_first_one(void **state)
{
	void *acl = acl_with("permit udp any any any 53\n", "default", "deny");

	(void)state;
	assert_string_equal(
		OUT6(.identification = 9, .fragment_offset_bytes = 24, .payload_bytes = 8), "held");
	assert_null(OUT6(.identification = 9, .dst_port = 53, .more_fragments = true,
			 .payload_bytes = 16));
	assert_null(OUT6(.identification = 9, .fragment_offset_bytes = 24, .payload_bytes = 8));
	ends(acl);
}

static void
later_fragments_follow_the_first_and_wait_for_it_if_rules_name_ports(void **state)
{
	void *acl = acl_with("permit udp any any any 53", "default", "deny");

	(void)state;
	assert_string_equal(OUT(.identification = 7, .fragment_offset_bytes = 24), "held");
	assert_null(OUT(.identification = 7, .dst_port = 53, .payload_bytes = 16,
			.more_fragments = true));
	assert_null(OUT(.identification = 7, .fragment_offset_bytes = 24));
	assert_null(OUT(.identification = 7, .fragment_offset_bytes = 48));
	assert_string_equal(OUT(.identification = 8, .fragment_offset_bytes = 24), "held");
	/* Later fragments of a denied first one are denied, too. */
	assert_string_equal(OUT(.identification = 7, .dst_port = 54, .payload_bytes = 16,
				.more_fragments = true),
			    "denied");
	assert_string_equal(OUT(.identification = 7, .fragment_offset_bytes = 24), "denied");
	ends(acl);
	acl = acl_with("permit udp any any", "default", "deny");
	assert_null(OUT(.identification = 9, .fragment_offset_bytes = 24)); /* rules see it whole */
	ends(acl);
	acl = acl_with("permit udp any any\npermit udp any any any 53", "held_fragments", "0");
	assert_string_equal(OUT(.identification = 9, .fragment_offset_bytes = 24),
			    "fragment_table_full");
	ends(acl);
}

/* A first fragment of TCP with 8 bytes of its header. */
static const char *
send_tiny(void *acl, uint16_t identification)
{
	const struct weir_test_ipv4 what = {
		.identification = identification, .protocol = IPPROTO_TCP, .more_fragments = true};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	struct weir_test_outcome outcome;

	weir_test_ipv4_frame(&what, frame);
	ip->total_length = rte_cpu_to_be_16(sizeof(*ip) + 8);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	outcome = weir_test_run(&weir_nf_acl, acl, WEIR_OUTBOUND, weir_test_packet(frame, 60),
				rte_get_tsc_hz());
	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason;
}

/* RFC 1858, section 3: a first fragment too short to be decided on. */
static void
later_fragments_of_a_first_one_without_its_ports_are_dropped_with_it(void **state)
{
	void *acl = acl_with("permit any any any\ndeny udp any any any 53", "default", "deny");

	(void)state;
	assert_string_equal(OUT(.identification = 7, .protocol = IPPROTO_TCP,
				.fragment_offset_bytes = 24, .payload_bytes = 8),
			    "held");
	assert_string_equal(send_tiny(acl, 7), "truncated");
	assert_string_equal(OUT(.identification = 7, .protocol = IPPROTO_TCP,
				.fragment_offset_bytes = 24, .payload_bytes = 8),
			    "truncated");
	ends(acl);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_fragments_of_ipv6_follow_the_first_one),
		cmocka_unit_test(
			later_fragments_follow_the_first_and_wait_for_it_if_rules_name_ports),
		cmocka_unit_test(
			later_fragments_of_a_first_one_without_its_ports_are_dropped_with_it),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
