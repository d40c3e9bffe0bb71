/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of Maglev's tables (Eisenbud and others, NSDI 2016, section 5.3): equal shares,
 * few moves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nf/lb/maglev.h"

#define SMALL 65537
#define LARGE 655373
#define BACKENDS 100

static uint16_t before[LARGE];
static uint16_t after[LARGE];

/* The table of back-ends 10.0.0.0:80, 10.0.0.1:80, … but for `left_out`. */
static void
fill(uint16_t *table, uint32_t size, unsigned int count, unsigned int left_out)
{
	struct maglev_entry entries[BACKENDS];
	unsigned int used = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (i != left_out)
			entries[used++] = (struct maglev_entry){
				.name = (uint64_t)(0x0a000000 + i) << 16 | 80,
				.number = i,
			};
	}
	assert_true(maglev_fill(table, size, entries, used));
}

static void
test_shares_differ_by_one_place(void **state)
{
	static const uint32_t sizes[] = {SMALL, LARGE};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int share[BACKENDS] = {0};

		fill(before, sizes[i], BACKENDS, BACKENDS);
		for (uint32_t place = 0; place < sizes[i]; place++)
			share[before[place]]++;
		for (unsigned int j = 0; j < BACKENDS; j++)
			assert_in_range(share[j], sizes[i] / BACKENDS, sizes[i] / BACKENDS + 1);
	}
}

/* Places of back-ends that stay, but that another one has afterwards. */
static unsigned int
moved(uint32_t size, unsigned int removed)
{
	unsigned int count = 0;

	fill(before, size, BACKENDS, BACKENDS);
	fill(after, size, BACKENDS, removed);
	for (uint32_t place = 0; place < size; place++)
		count += before[place] != removed && before[place] != after[place];
	return count;
}

static void
test_a_removal_moves_few_other_places_and_fewer_in_a_larger_table(void **state)
{
	double small = 0, large = 0;

	(void)state;
	for (unsigned int removed = 0; removed < BACKENDS; removed += 10) {
		small += (double)moved(SMALL, removed) / SMALL / 10;
		large += (double)moved(LARGE, removed) / LARGE / 10;
	}
	print_message("moved: %.4f of %u places, %.4f of %u\n", small, SMALL, large, LARGE);
	assert_true(small < 0.01);
	assert_true(large < 0.003);
	assert_true(large < small);
}

static void
test_a_removed_backends_places_are_shared_by_all_others(void **state)
{
	unsigned int got[BACKENDS] = {0};

	(void)state;
	fill(before, SMALL, BACKENDS, BACKENDS);
	fill(after, SMALL, BACKENDS, 7);
	for (uint32_t place = 0; place < SMALL; place++) {
		if (before[place] == 7)
			got[after[place]]++;
	}
	for (unsigned int i = 0; i < BACKENDS; i++)
		assert_int_equal(got[i] > 0, i != 7);
}

static void
test_primes(void **state)
{
	(void)state;
	assert_true(maglev_is_prime(2));
	assert_true(maglev_is_prime(SMALL));
	assert_true(maglev_is_prime(LARGE));
	assert_false(maglev_is_prime(1));
	assert_false(maglev_is_prime(65536));
	assert_false(maglev_is_prime(65537UL * 257));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_differ_by_one_place),
		cmocka_unit_test(test_a_removal_moves_few_other_places_and_fewer_in_a_larger_table),
		cmocka_unit_test(test_a_removed_backends_places_are_shared_by_all_others),
		cmocka_unit_test(test_primes),
	};

	return cmocka_run_group_tests_name("lb-maglev", tests, NULL, NULL);
}
