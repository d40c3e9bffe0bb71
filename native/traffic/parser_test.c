/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser takes for a stamp, for a foreign packet and for a malformed one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixtures_test.h"
#include "frame.h"
#include "parser.h"

static uint8_t bytes[2048];

static void
a_stamp_is_found_in_every_template_and_in_no_shorter_cut_of_it(void **state)
{
	(void)state;
	for (int kind = 0; kind < 8; kind++) {
		struct weir_template template = template_of(kind & 1, kind & 2, kind & 4);
		struct weir_stamp sent = stamp_of(3, 42), found;
		uint16_t length =
			stamped_frame(&template, weir_frame_minimum(&template), sent, bytes);

		assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_STAMP);
		assert_memory_equal(&found, &sent, sizeof(sent));
		for (uint16_t cut = 0; cut < length; cut++)
			assert_int_not_equal(weir_parse(bytes, cut, cut, &found),
					     WEIR_PARSED_STAMP);
	}
}

static void
one_wrong_bit_in_a_stamp_makes_it_foreign(void **state)
{
	struct weir_template template = template_of(false, false, false);
	uint16_t length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);
	uint16_t at = weir_frame_offsets(&template).stamp;
	struct weir_stamp found;

	(void)state;
	for (unsigned int bit = 0; bit < 8 * sizeof(found); bit++) {
		bytes[at + bit / 8] ^= 1u << bit % 8;
		assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_FOREIGN);
		bytes[at + bit / 8] ^= 1u << bit % 8;
	}
}

static void
bytes_that_are_all_alike_are_no_stamp(void **state)
{
	struct weir_template template = template_of(false, false, false);
	uint16_t at = weir_frame_offsets(&template).stamp;
	struct weir_stamp found;

	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		uint16_t length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);

		memset(bytes + at, (int)value, sizeof(found));
		assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_FOREIGN);
	}
}

static void
lengths_that_contradict_each_other_are_malformed(void **state)
{
	struct weir_template template = template_of(false, false, false);
	struct weir_stamp found;
	uint16_t length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);

	(void)state;
	bytes[17]++; /* the IPv4 length is beyond the frame's end */
	assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_MALFORMED);
	bytes[17] -= 2; /* shorter than UDP says */
	assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_MALFORMED);
	bytes[17]++;
	bytes[14] = 0x44; /* a header of 16 bytes */
	assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_MALFORMED);
}

static void
a_fragment_and_a_third_tag_are_foreign(void **state)
{
	static const uint8_t tags[] = {0x81, 0, 0, 1, 0x81, 0, 0, 1, 0x81, 0, 0, 1};
	struct weir_template template = template_of(false, false, false);
	uint16_t length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);
	struct weir_stamp found;

	(void)state;
	memmove(bytes + 12 + 8, bytes + 12, length - 12);
	memcpy(bytes + 12, tags, 8);
	assert_int_equal(weir_parse(bytes, length + 8, length + 8, &found), WEIR_PARSED_STAMP);
	memmove(bytes + 12 + 4, bytes + 12, length - 12 + 8);
	memcpy(bytes + 12, tags, 12);
	assert_int_equal(weir_parse(bytes, length + 12, length + 12, &found), WEIR_PARSED_FOREIGN);

	length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);
	bytes[20] = 0x20; /* more fragments */
	assert_int_equal(weir_parse(bytes, length, length, &found), WEIR_PARSED_FOREIGN);
}

static bool
signal_of(const char *hex)
{
	size_t length = strlen(hex) / 2;

	memset(bytes, 0, 60);
	for (size_t i = 0; i < length; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return weir_parse_signal(bytes, length, RTE_MAX(length, (size_t)60));
}

#define ETHER "020000000001020000000002"
#define IPV4(total, protocol)                                                                      \
	"08004500" total "00004000"                                                                \
	"40" protocol "0000c6120001c6130001"
#define IPV6(payload, next)                                                                        \
	"86dd60000000" payload next "40"                                                           \
	"20010db8000000000000000000000001"                                                         \
	"20010db8000000000000000000000002"
#define GTPU(ports, type)                                                                          \
	IPV4("0024", "11")                                                                         \
	ports "00100000"                                                                           \
	      "30" type "000000000001"

static void
what_functions_make_is_told_from_packets_of_users(void **state)
{
	struct weir_template template = template_of(false, false, false);
	uint16_t length = stamped_frame(&template, 64, stamp_of(3, 42), bytes);

	(void)state;
	bytes[length - 1] ^= 1; /* in the stamp */
	assert_false(weir_parse_signal(bytes, length, length));
	assert_true(signal_of(ETHER "0806"));
	assert_true(signal_of(ETHER "810000010806"));
	assert_true(signal_of(ETHER IPV4("001c", "01")));
	assert_true(signal_of(ETHER IPV6("0000", "3a")));
	assert_false(signal_of(ETHER IPV6("0008", "00") "3a00050200000000")); /* a host's report */
	assert_true(signal_of(ETHER GTPU("08680868", "1a")));		      /* error indication */
	assert_true(signal_of(ETHER GTPU("08681000", "02")));
	assert_true(signal_of(ETHER GTPU("10000868", "fe")));  /* end marker */
	assert_false(signal_of(ETHER GTPU("08680868", "ff"))); /* a user's packet */
	assert_false(signal_of(ETHER GTPU("10001000", "1a")));
	assert_false(
		signal_of(ETHER IPV4("001c", "11") "0868086800080000")); /* no room for a type */
	assert_false(signal_of(ETHER IPV4("001c", "06")));
	assert_false(signal_of(ETHER "88cc"));
	assert_false(signal_of("0200000000"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stamp_is_found_in_every_template_and_in_no_shorter_cut_of_it),
		cmocka_unit_test(one_wrong_bit_in_a_stamp_makes_it_foreign),
		cmocka_unit_test(bytes_that_are_all_alike_are_no_stamp),
		cmocka_unit_test(lengths_that_contradict_each_other_are_malformed),
		cmocka_unit_test(a_fragment_and_a_third_tag_are_foreign),
		cmocka_unit_test(what_functions_make_is_told_from_packets_of_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
