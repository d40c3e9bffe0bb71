/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_hash_crc.h>

#include "flow_table.h"
#include "testing/eal.h"

#define CAPACITY 4096

static uint8_t keys[CAPACITY][32]; /* a key and something else behind it */

static uint32_t
find(const struct weir_flow_table *table, const void *key)
{
	const void *const asked[1] = {key};
	uint32_t number;

	weir_flow_table_find(table, asked, &number, 1);
	return number;
}

static void
write_key(uint32_t number, uint64_t value)
{
	memcpy(keys[number], &value, sizeof(value));
}

static void
random_puts_and_takes_agree_with_a_plain_list(void **state)
{
	struct weir_flow_table *table = weir_flow_table_create(CAPACITY, keys, sizeof(keys[0]));
	static bool in[CAPACITY];

	(void)state;
	assert_non_null(table);
	srand(2);
	for (uint32_t i = 0; i < CAPACITY; i++)
		write_key(i, i * 7919ULL);
	for (unsigned int step = 0; step < 200000; step++) {
		uint32_t number = rand() % CAPACITY;

		assert_int_equal(find(table, keys[number]), in[number] ? number : WEIR_FLOW_NONE);
		if (in[number])
			weir_flow_table_take(table, number);
		else
			assert_true(weir_flow_table_put(table, number));
		in[number] = !in[number];
	}
	weir_flow_table_free(table);
}

static void
it_takes_as_many_as_it_was_made_for(void **state)
{
	struct weir_flow_table *table = weir_flow_table_create(CAPACITY, keys, sizeof(keys[0]));
	uint8_t other[16] = "not in the table";

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CAPACITY; i++) {
			write_key(i, (uint64_t)round << 32 | i);
			assert_true(weir_flow_table_put(table, i));
		}
		assert_int_equal(find(table, other), WEIR_FLOW_NONE);
		for (uint32_t i = 0; i < CAPACITY; i++) {
			assert_int_equal(find(table, keys[i]), i);
			weir_flow_table_take(table, i);
			assert_int_equal(find(table, keys[i]), WEIR_FLOW_NONE);
		}
	}
	weir_flow_table_free(table);
}

/* In each of many buckets a ninth key needs an overflow bucket, and is then left in it alone. */
static void
keys_that_come_and_go_so_as_to_use_up_overflow_buckets_still_find_room(void **state)
{
	enum { PLACES = CAPACITY / 4, KEYS = 9 };
	struct weir_flow_table *table = weir_flow_table_create(CAPACITY, keys, sizeof(keys[0]));
	static uint64_t of_bucket[PLACES][KEYS];
	static unsigned int known[PLACES];
	unsigned int complete = 0;
	uint32_t stays = KEYS - 1; /* numbers below are for keys that go again */

	(void)state;
	for (uint64_t value = 1; complete < PLACES; value++) {
		const uint64_t words[2] = {value};
		const uint32_t bucket =
			rte_hash_crc_8byte(words[1], rte_hash_crc_8byte(words[0], 0x9e3779b9)) &
			(PLACES - 1);

		if (known[bucket] == KEYS)
			continue;
		of_bucket[bucket][known[bucket]++] = value;
		complete += known[bucket] == KEYS;
	}
	for (unsigned int bucket = 0; bucket < PLACES; bucket++) {
		for (uint32_t i = 0; i < KEYS - 1; i++) {
			write_key(i, of_bucket[bucket][i]);
			assert_true(weir_flow_table_put(table, i));
		}
		write_key(stays, of_bucket[bucket][KEYS - 1]);
		assert_true(weir_flow_table_put(table, stays));
		for (uint32_t i = 0; i < KEYS - 1; i++)
			weir_flow_table_take(table, i);
		assert_int_equal(find(table, keys[stays]), stays);
		stays++;
	}
	weir_flow_table_free(table);
}

static void
thirty_two_at_once_are_found_as_one_by_one(void **state)
{
	struct weir_flow_table *table = weir_flow_table_create(CAPACITY, keys, sizeof(keys[0]));
	const void *asked[WEIR_FLOW_BULK];
	uint32_t numbers[WEIR_FLOW_BULK];

	(void)state;
	for (uint32_t i = 0; i < WEIR_FLOW_BULK; i++) {
		write_key(i, i * 0x9e3779b97f4a7c15ULL);
		asked[i] = keys[i];
		if (i % 3 != 0)
			assert_true(weir_flow_table_put(table, i));
	}
	weir_flow_table_find(table, asked, numbers, WEIR_FLOW_BULK);
	for (uint32_t i = 0; i < WEIR_FLOW_BULK; i++)
		assert_int_equal(numbers[i], i % 3 != 0 ? i : WEIR_FLOW_NONE);
	weir_flow_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_puts_and_takes_agree_with_a_plain_list),
		cmocka_unit_test(it_takes_as_many_as_it_was_made_for),
		cmocka_unit_test(
			keys_that_come_and_go_so_as_to_use_up_overflow_buckets_still_find_room),
		cmocka_unit_test(thirty_two_at_once_are_found_as_one_by_one),
	};

	return cmocka_run_group_tests_name("flow_table", tests, weir_test_eal, NULL);
}
