/* SPDX-License-Identifier: Apache-2.0 */
/* A router with addresses answers echo requests. */
#include "station_fixture_test.h"

#include <string.h>

static void
an_echo_request_to_either_address_is_answered(void **state)
{
	static const char *const addresses[] = {"10.0.1.1", "10.0.2.1"};
	static const char data[] = "are you there?";
	struct frame request, reply, wanted;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(addresses); i++) {
		struct weir_test_ipv4 what = {.src = "10.0.1.2",
					      .dst = addresses[i],
					      .protocol = IPPROTO_ICMP,
					      .src_port = 0x1234,
					      .payload = data,
					      .payload_bytes = sizeof(data)};

		request.size = weir_test_ipv4_frame(&what, request.bytes);
		memcpy(request.bytes, LEFT_MAC HOST_MAC, 12);
		arrives(LEFT, &request);
		assert_true(leaves(LEFT, &reply));
		what.src = addresses[i];
		what.dst = "10.0.1.2";
		wanted.size = weir_test_ipv4_frame(&what, wanted.bytes);
		assert_memory_equal(reply.bytes, HOST_MAC LEFT_MAC, 12);
		assert_memory_equal(reply.bytes + 14, wanted.bytes + 14, 20);
		assert_int_equal(reply.bytes[34], 0);
		assert_memory_equal(reply.bytes + 38, wanted.bytes + 38, wanted.size - 38);
	}
	request.bytes[36] ^= 1; /* its checksum */
	arrives(LEFT, &request);
	nothing_leaves();
	all_is_accounted_for();
}

static void
an_ipv6_echo_request_is_answered(void **state)
{
	struct frame request = ipv6_to("2001:db8:2::1", 64, 24), reply, checked;

	(void)state;
	start_router(NULL, NULL);
	request.bytes[20] = 58;
	memcpy(request.bytes + 54, "\x80\0\0\0\x12\x34\0\1", 8);
	set_icmpv6_checksum(&request);
	arrives(LEFT, &request);
	assert_true(leaves(LEFT, &reply));
	assert_memory_equal(reply.bytes, HOST_MAC LEFT_MAC, 12);
	assert_memory_equal(reply.bytes + 22, request.bytes + 38, 16);
	assert_memory_equal(reply.bytes + 38, request.bytes + 22, 16);
	assert_int_equal(reply.bytes[54], 129);
	assert_memory_equal(reply.bytes + 58, request.bytes + 58, request.size - 58);
	checked = reply;
	set_icmpv6_checksum(&checked);
	assert_memory_equal(checked.bytes, reply.bytes, reply.size);
	assert_int_equal(reply.size, request.size);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_echo_request_to_either_address_is_answered),
		cmocka_unit_test(an_ipv6_echo_request_is_answered),
	};

	return cmocka_run_group_tests_name("l3fwd_echo", tests, weir_test_eal, end_router);
}
