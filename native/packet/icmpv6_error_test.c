/* SPDX-License-Identifier: Apache-2.0 */
/* The packet inside an ICMPv6 error: which are read (RFC 4443). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "icmpv6_error.h"
#include "testing/eal.h"
#include "testing/ipv6_packet.h"

/* An error of that type about that packet, of which `bytes` from its IP header on are quoted; 0:
 * all. */
static bool
is_read(uint8_t type, const struct weir_test_ipv6 *about, uint16_t bytes,
	struct weir_icmpv6_error *error)
{
	uint8_t inside[WEIR_TEST_FRAME_BYTES];
	uint16_t all = (uint16_t)(weir_test_ipv6_frame(about, inside) - 14);
	struct weir_test_ipv6 what = {.src = "2001:db8:ff::1",
				      .dst = about->src,
				      .protocol = IPPROTO_ICMPV6,
				      .icmp_type = type,
				      .payload = inside + 14,
				      .payload_bytes = bytes != 0 ? bytes : all};
	struct rte_mbuf *packet = weir_test_ipv6_packet(&what);
	struct weir_headers headers;
	bool read;

	weir_headers_parse(packet, &headers);
	read = weir_icmpv6_error_parse(packet, &headers, error);
	rte_pktmbuf_free(packet);
	return read;
}

static void
the_packet_inside_has_the_tuple_that_it_was_sent_with(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	static const uint8_t extensions[] = {0, 8, 24};
	uint8_t src[16], dst[16];

	(void)state;
	inet_pton(AF_INET6, "2001:db8::1", src);
	inet_pton(AF_INET6, "2001:db8:1::1", dst);
	for (uint8_t type = 1; type <= 4; type++) {
		for (unsigned int i = 0; i < RTE_DIM(protocols) * RTE_DIM(extensions); i++) {
			struct weir_test_ipv6 about = {
				.protocol = protocols[i % 2],
				.src_port = 4000,
				.dst_port = 53,
				.options_bytes = extensions[i / 2],
			};
			struct weir_icmpv6_error error;

			assert_true(is_read(type, &about, 0, &error));
			assert_memory_equal(error.src_ip, src, sizeof(src));
			assert_memory_equal(error.dst_ip, dst, sizeof(dst));
			assert_int_equal(error.tuple.protocol, about.protocol);
			assert_int_equal(ntohs(error.tuple.src_port), 4000);
			assert_int_equal(ntohs(error.tuple.dst_port), 53);
		}
	}
}

static void
an_echo_inside_has_its_identifier_and_its_type(void **state)
{
	struct weir_test_ipv6 about = {
		.protocol = IPPROTO_ICMPV6, .src_port = 77, .icmp_type = 129};
	struct weir_icmpv6_error error;

	(void)state;
	assert_true(is_read(1, &about, 0, &error));
	assert_int_equal(ntohs(error.tuple.src_port), 77);
	assert_int_equal(error.type, 129);
	about.icmp_type = 1; /* an error about an error */
	assert_false(is_read(1, &about, 0, &error));
}

static void
what_is_no_error_or_quotes_too_little_is_not_read(void **state)
{
	struct weir_test_ipv6 about = {.src_port = 4000, .options_bytes = 8};
	struct weir_icmpv6_error error;

	(void)state;
	assert_true(is_read(1, &about, 56, &error)); /* 40, 8 of options, 8 of UDP */
	for (uint16_t bytes = 1; bytes < 56; bytes++)
		assert_false(is_read(1, &about, bytes, &error));
	assert_false(is_read(5, &about, 0, &error));
	assert_false(is_read(100, &about, 0, &error));
	assert_false(is_read(128, &about, 0, &error));
	assert_false(is_read(135, &about, 0, &error));
}

static void
of_fragments_the_first_one_is_read_alone(void **state)
{
	struct weir_test_ipv6 about = {
		.src_port = 4000, .more_fragments = true, .payload_bytes = 8};
	struct weir_icmpv6_error error;

	(void)state;
	assert_true(is_read(2, &about, 0, &error));
	assert_int_equal(ntohs(error.tuple.src_port), 4000);
	about.fragment_offset_bytes = 16;
	assert_false(is_read(2, &about, 0, &error));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_packet_inside_has_the_tuple_that_it_was_sent_with),
		cmocka_unit_test(an_echo_inside_has_its_identifier_and_its_type),
		cmocka_unit_test(what_is_no_error_or_quotes_too_little_is_not_read),
		cmocka_unit_test(of_fragments_the_first_one_is_read_alone),
	};

	return cmocka_run_group_tests_name("icmpv6_error", tests, weir_test_eal, NULL);
}
