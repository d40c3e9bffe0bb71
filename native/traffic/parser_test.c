/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser takes for a stamp, for a foreign packet and for a malformed one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stamp_is_found_in_every_template_and_in_no_shorter_cut_of_it),
		cmocka_unit_test(one_wrong_bit_in_a_stamp_makes_it_foreign),
		cmocka_unit_test(bytes_that_are_all_alike_are_no_stamp),
		cmocka_unit_test(lengths_that_contradict_each_other_are_malformed),
		cmocka_unit_test(a_fragment_and_a_third_tag_are_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
