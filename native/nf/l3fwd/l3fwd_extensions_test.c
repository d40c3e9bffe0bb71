/* SPDX-License-Identifier: Apache-2.0 */
/* What a router reads of the extension headers of IPv6 packets to itself (RFC 8200, section 4). */
#include "station_fixture_test.h"

#include <string.h>

#define IP_AT 14
#define EXTENSION_AT (IP_AT + 40)

/* Puts an extension header of that kind, of 8 bytes whose first is filled in, behind the IPv6
 * header. */
static void
put_extension(struct frame *frame, uint8_t kind, const char *header)
{
	uint8_t *ip = frame->bytes + IP_AT, *at = frame->bytes + EXTENSION_AT;

	memmove(at + 8, at, frame->size - EXTENSION_AT);
	memcpy(at, header, 8);
	at[0] = ip[6];
	ip[6] = kind;
	ip[5] += 8;
	frame->size += 8;
}

static struct frame
echo_request(void)
{
	struct frame request = ipv6_to("2001:db8:2::1", 64, 24);

	request.bytes[IP_AT + 6] = IPPROTO_ICMPV6;
	memcpy(request.bytes + EXTENSION_AT, "\x80\0\0\0\x12\x34\0\1", 8);
	set_icmpv6_checksum(&request);
	return request;
}

static void
an_echo_request_behind_extension_headers_is_answered_without_them(void **state)
{
	static const struct {
		uint8_t kind;
		const char *header;
	} known[] = {
		{IPPROTO_HOPOPTS, "\0\0\5\2\0\0\1\0"},		/* router alert, PadN */
		{IPPROTO_DSTOPTS, "\0\0\1\4\0\0\0\0"},		/* PadN */
		{IPPROTO_DSTOPTS, "\0\0\0\0\0\0\0\0"},		/* Pad1 */
		{IPPROTO_DSTOPTS, "\0\0\x1e\4abcd"},		/* unknown, to be skipped */
		{IPPROTO_ROUTING, "\0\0\xfe\0\0\0\0\0"},	/* of unknown type, at its end */
		{IPPROTO_FRAGMENT, "\0\0\0\0\x12\x34\x56\x78"}, /* atomic: RFC 6946 */
	};
	struct frame request = echo_request(), bare, reply;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &request);
	assert_true(leaves(LEFT, &bare));
	for (size_t i = 0; i < RTE_DIM(known); i++) {
		request = echo_request();
		put_extension(&request, known[i].kind, known[i].header);
		arrives(LEFT, &request);
		assert_true(leaves(LEFT, &reply));
		assert_int_equal(reply.size, bare.size);
		assert_memory_equal(reply.bytes, bare.bytes, bare.size);
		put_extension(&request, IPPROTO_HOPOPTS, known[0].header); /* two of them */
		arrives(LEFT, &request);
		assert_true(leaves(LEFT, &reply));
		assert_memory_equal(reply.bytes, bare.bytes, bare.size);
	}
	request.bytes[request.size - 1] ^= 1; /* what its checksum is over */
	nobody_is_answered(LEFT, &request, "for_router");
}

/* From the address that the packet went to, with the place in it of what is wrong. */
static void
complains_of(const struct frame *packet, uint8_t code, uint8_t pointer)
{
	const size_t quoted = packet->size - IP_AT;
	struct frame error, checked;

	assert_true(leaves(LEFT, &error));
	assert_int_equal(error.size, EXTENSION_AT + 8 + quoted);
	assert_memory_equal(error.bytes + IP_AT + 8, packet->bytes + IP_AT + 24, 16);
	assert_memory_equal(error.bytes + IP_AT + 24, packet->bytes + IP_AT + 8, 16);
	assert_int_equal(error.bytes[EXTENSION_AT], 4);
	assert_int_equal(error.bytes[EXTENSION_AT + 1], code);
	assert_memory_equal(error.bytes + EXTENSION_AT + 4, "\0\0\0", 3);
	assert_int_equal(error.bytes[EXTENSION_AT + 7], pointer);
	assert_memory_equal(error.bytes + EXTENSION_AT + 8, packet->bytes + IP_AT, quoted);
	checked = error;
	set_icmpv6_checksum(&checked);
	assert_memory_equal(checked.bytes, error.bytes, error.size);
	nothing_leaves();
	all_is_accounted_for();
}

static void
an_option_that_must_not_be_skipped_is_told_with_its_place(void **state)
{
	static const char *const headers[] = {"\0\0\xc1\4abcd", "\0\0\x81\4abcd"};
	struct frame packet;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(headers); i++) {
		packet = ipv6_to("2001:db8:2::1", 64, 10);
		put_extension(&packet, IPPROTO_DSTOPTS, headers[i]);
		arrives(LEFT, &packet);
		complains_of(&packet, 2, 42);
		packet = echo_request();
		put_extension(&packet, IPPROTO_DSTOPTS, headers[i]);
		put_extension(&packet, IPPROTO_HOPOPTS, "\0\0\1\4\0\0\0\0");
		arrives(LEFT, &packet);
		complains_of(&packet, 2, 50);
	}
	assert_int_equal(dropped("for_router"), 4);
}

static void
a_routing_header_that_leads_on_is_told_with_its_type(void **state)
{
	struct frame packet = ipv6_to("2001:db8:2::1", 64, 10);

	(void)state;
	start_router(NULL, NULL);
	put_extension(&packet, IPPROTO_ROUTING, "\0\0\xfe\1\0\0\0\0");
	arrives(LEFT, &packet);
	complains_of(&packet, 0, 42);
}

static void
options_that_say_so_and_broken_ones_are_dropped_in_silence(void **state)
{
	static const char *const headers[] = {
		"\0\0\x41\4abcd",     /* discard */
		"\0\0\x1e\5abcd",     /* ends behind its header */
		"\0\0\1\3\0\0\0\x1e", /* has no length */
	};
	struct frame packet;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(headers); i++) {
		packet = ipv6_to("2001:db8:1::1", 64, 10);
		put_extension(&packet, IPPROTO_DSTOPTS, headers[i]);
		nobody_is_answered(LEFT, &packet, "for_router");
		packet = echo_request();
		put_extension(&packet, IPPROTO_DSTOPTS, headers[i]);
		nobody_is_answered(LEFT, &packet, "for_router");
	}
}

static void
what_is_not_for_the_router_passes_with_any_option(void **state)
{
	struct frame packet = ipv6_to("2001:db8:ffff::1", 64, 10);

	(void)state;
	start_router(NULL, NULL);
	put_extension(&packet, IPPROTO_DSTOPTS, "\0\0\xc1\4abcd");
	arrives(LEFT, &packet);
	assert_int_equal(held(), 1); /* for the gateway */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_echo_request_behind_extension_headers_is_answered_without_them),
		cmocka_unit_test(an_option_that_must_not_be_skipped_is_told_with_its_place),
		cmocka_unit_test(a_routing_header_that_leads_on_is_told_with_its_type),
		cmocka_unit_test(options_that_say_so_and_broken_ones_are_dropped_in_silence),
		cmocka_unit_test(what_is_not_for_the_router_passes_with_any_option),
	};

	return cmocka_run_group_tests_name("l3fwd_extensions", tests, weir_test_eal, end_router);
}
