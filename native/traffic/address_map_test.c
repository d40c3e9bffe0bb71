/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of captured frames in place of others: which change, and that right checksums stay so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>

#include "address_map.h"
#include "fixtures_test.h"
#include "parser.h"

static struct weir_address_map
map_of(const char *from, const char *to, uint8_t length)
{
	uint8_t version = strchr(from, ':') != NULL ? 6 : 4;
	struct weir_address_map map = {.ip_version = version, .length = length};

	assert_int_equal(inet_pton(version == 6 ? AF_INET6 : AF_INET, from, map.from), 1);
	assert_int_equal(inet_pton(version == 6 ? AF_INET6 : AF_INET, to, map.to), 1);
	return map;
}

static void
put_checksum(uint8_t *at, uint32_t sum)
{
	at[0] = (uint8_t)(~sum >> 8);
	at[1] = (uint8_t)~sum;
}

/* A frame of Weir's between addresses of 198.18.0.0/15 or 2001:2::/46, with right checksums; its
 * length. */
static uint16_t
right_frame(struct weir_template *template, uint8_t *frame, struct weir_payload *payload)
{
	static const uint8_t v4[2][4] = {{198, 18, 7, 9}, {198, 19, 200, 1}};
	static const uint8_t v6[2][16] = {{0x20, 1, 0, 2, 0, 1, 0xab, [15] = 9},
					  {0x20, 1, 0, 2, 0, 3, 0xcd, [15] = 7}};

	uint16_t length;
	uint8_t *checksum;

	if (template->ip_version == 4) {
		memcpy(template->src_ip, v4[0], sizeof(v4[0]));
		memcpy(template->dst_ip, v4[1], sizeof(v4[1]));
	} else {
		memcpy(template->src_ip, v6[0], sizeof(v6[0]));
		memcpy(template->dst_ip, v6[1], sizeof(v6[1]));
	}
	length = stamped_frame(template, 201, stamp_of(1, 1), frame);
	assert_true(weir_parse_payload(frame, length, length, payload));
	checksum = frame + payload->transport + (payload->protocol == IPPROTO_TCP ? 16 : 6);
	memset(checksum, 0, 2);
	put_checksum(checksum, transport_sum(frame, payload->network, payload->transport,
					     payload->end, payload->protocol));
	if (frame[payload->network] >> 4 == 4) {
		memset(frame + payload->network + 10, 0, 2);
		put_checksum(frame + payload->network + 10,
			     summed(frame + payload->network, 20, 0));
	}
	return length;
}

static void
prefixes_are_exchanged_and_right_checksums_stay_right(void **state)
{
	const struct weir_address_map maps[] = {
		map_of("198.18.0.0", "10.160.0.0", 15), map_of("198.16.0.0", "172.16.0.0", 12),
		map_of("2001:2::", "fd00:1234::", 46), map_of("::", "ff00::", 8)};
	static const bool kinds[][3] = {{false, false, false},
					{false, true, true},
					{true, false, true},
					{true, true, false}};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct weir_template template = template_of(kinds[i][0], kinds[i][1], kinds[i][2]);
		uint8_t frame[2048], before[2048];
		struct weir_payload payload;
		uint16_t length = right_frame(&template, frame, &payload);
		size_t addresses = payload.network + (kinds[i][0] ? 8 : 12);
		size_t bytes = kinds[i][0] ? 16 : 4;

		memcpy(before, frame, length);
		weir_address_maps_apply(maps, 4, frame, length);
		assert_int_equal(transport_sum(frame, payload.network, payload.transport,
					       payload.end, payload.protocol),
				 0xffff);
		if (!kinds[i][0])
			assert_int_equal(summed(frame + payload.network, 20, 0), 0xffff);
		for (unsigned int side = 0; side < 2; side++) {
			const uint8_t *was = before + addresses + side * bytes;
			const uint8_t *is = frame + addresses + side * bytes;
			uint8_t wanted[16];

			memcpy(wanted, was, bytes);
			if (kinds[i][0]) {
				static const uint8_t prefix[] = {0xfd, 0, 0x12, 0x34, 0};

				memcpy(wanted, prefix, 5);
				wanted[5] = was[5] & 3;
			} else {
				wanted[0] = 10;
				wanted[1] = 160 | (was[1] & 1);
			}
			assert_memory_equal(is, wanted, bytes);
		}
		/* Nothing else than addresses and checksums. */
		memcpy(frame + addresses, before + addresses, 2 * bytes);
		if (!kinds[i][0])
			memcpy(frame + payload.network + 10, before + payload.network + 10, 2);
		memcpy(frame + payload.transport, before + payload.transport, 20);
		assert_memory_equal(frame, before, length);
	}
}

static void
the_first_map_that_has_an_address_counts_and_others_stay(void **state)
{
	const struct weir_address_map maps[] = {map_of("192.0.2.1", "203.0.113.7", 32),
						map_of("192.0.2.0", "198.51.100.0", 24)};
	uint8_t frame[34] = {[12] = 0x08, [14] = 0x45, [17] = 20, [26] = 192, 0, 2,
			     1,		  192,	       0,	  2,	      2};
	static const uint8_t wanted[] = {203, 0, 113, 7, 198, 51, 100, 2};
	uint8_t other[34] = {[12] = 0x08, [14] = 0x45, [17] = 20, [26] = 192, 0, 3, 1, 10, 0, 2, 2};
	uint8_t before[34];

	(void)state;
	weir_address_maps_apply(maps, 2, frame, sizeof(frame));
	assert_memory_equal(frame + 26, wanted, 8);
	memcpy(before, other, sizeof(other));
	weir_address_maps_apply(maps, 2, other, sizeof(other));
	assert_memory_equal(other, before, sizeof(other));
}

static void
udp_without_a_checksum_stays_without_and_no_sum_becomes_none(void **state)
{
	const struct weir_address_map map = map_of("192.0.2.0", "198.51.100.0", 24);
	uint8_t frame[42] = {[12] = 0x08, [14] = 0x45, [17] = 28, [23] = IPPROTO_UDP,
			     [26] = 192,  0,	       2,	  1,
			     192,	  0,	       2,	  2,
			     0,		  5,	       0,	  6,
			     0,		  8,	       0,	  0};
	uint16_t checksum;

	(void)state;
	weir_address_maps_apply(&map, 1, frame, sizeof(frame));
	assert_int_equal(frame[26], 198);
	assert_int_equal(frame[40] << 8 | frame[41], 0);
	/* Each checksum that is there, so that one of them would come out as 0. */
	for (uint32_t value = 1; value <= 0xffff; value++) {
		frame[26] = 192, frame[27] = 0, frame[28] = 2;
		checksum = htons((uint16_t)value);
		memcpy(frame + 40, &checksum, 2);
		weir_address_maps_apply(&map, 1, frame, sizeof(frame));
		assert_int_not_equal(frame[40] << 8 | frame[41], 0);
	}
}

static void
later_fragments_have_no_checksum_of_a_transport(void **state)
{
	const struct weir_address_map maps[] = {map_of("192.0.2.0", "198.51.100.0", 24),
						map_of("2001:db8::", "fd00::", 32)};
	uint8_t v4[54] = {[12] = 0x08,	      [14] = 0x45, [17] = 40, [21] = 5,
			  [23] = IPPROTO_TCP, [26] = 192,  0,	      2};
	uint8_t v6[82] = {[12] = 0x86, [13] = 0xdd, [14] = 0x60, [19] = 28, [20] = IPPROTO_FRAGMENT,
			  [22] = 0x20, 0x01,	    0x0d,	 0xb8,	    [54] = IPPROTO_TCP,
			  [57] = 8};

	(void)state;
	memset(v4 + 34, 0xaa, 20);
	weir_address_maps_apply(maps, 2, v4, sizeof(v4));
	assert_int_equal(v4[26], 198);
	for (unsigned int i = 34; i < 54; i++)
		assert_int_equal(v4[i], 0xaa);
	memset(v6 + 62, 0xaa, 20);
	weir_address_maps_apply(maps, 2, v6, sizeof(v6));
	assert_int_equal(v6[22], 0xfd);
	for (unsigned int i = 62; i < 82; i++)
		assert_int_equal(v6[i], 0xaa);
}

static void
icmpv6_behind_extension_headers_and_arp_follow(void **state)
{
	const struct weir_address_map maps[] = {map_of("192.0.2.0", "198.51.100.0", 24),
						map_of("2001:db8::", "fd00::", 32)};
	uint8_t ping[70] = {[12] = 0x86,
			    [13] = 0xdd,
			    [14] = 0x60,
			    [19] = 16,
			    [22] = 0x20,
			    0x01,
			    0x0d,
			    0xb8,
			    [38] = 0xfe,
			    0x80,
			    [54] = IPPROTO_ICMPV6,
			    [62] = 128};
	uint8_t arp[60] = {[12] = 0x08, 0x06,	    0, 1, 0x08, 0,	    6, 4, 0,
			   1,		[28] = 192, 0, 2, 1,	[38] = 192, 0, 2, 9};

	(void)state;
	put_checksum(ping + 64, transport_sum(ping, 14, 62, 70, IPPROTO_ICMPV6));
	weir_address_maps_apply(maps, 2, ping, sizeof(ping));
	assert_int_equal(ping[22], 0xfd);
	assert_int_equal(transport_sum(ping, 14, 62, 70, IPPROTO_ICMPV6), 0xffff);
	weir_address_maps_apply(maps, 2, arp, sizeof(arp));
	assert_int_equal(arp[28], 198);
	assert_int_equal(arp[31], 1);
	assert_int_equal(arp[38], 198);
	assert_int_equal(arp[41], 9);
}

/* Each is cut everywhere, within memory of just that size, which AddressSanitizer watches. */
static void
frames_that_are_cut_are_not_read_beyond_their_end(void **state)
{
	const struct weir_address_map maps[] = {map_of("198.18.0.0", "10.160.0.0", 15),
						map_of("2001:2::", "fd00:1234::", 46)};

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct weir_template template = template_of(i & 1, i & 2, i & 4);
		uint8_t frame[2048];
		struct weir_payload payload;
		uint16_t length = right_frame(&template, frame, &payload);

		for (uint16_t kept = 0; kept <= length; kept++) {
			uint8_t *cut = test_malloc(kept + 1);

			memcpy(cut + 1, frame, kept);
			weir_address_maps_apply(maps, 2, cut + 1, kept);
			test_free(cut);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_are_exchanged_and_right_checksums_stay_right),
		cmocka_unit_test(the_first_map_that_has_an_address_counts_and_others_stay),
		cmocka_unit_test(udp_without_a_checksum_stays_without_and_no_sum_becomes_none),
		cmocka_unit_test(later_fragments_have_no_checksum_of_a_transport),
		cmocka_unit_test(icmpv6_behind_extension_headers_and_arp_follow),
		cmocka_unit_test(frames_that_are_cut_are_not_read_beyond_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
