/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "lean/core_clock.h"
#include "lean/machine.h"
#include "lean/probe.h"
#include "testing/eal.h"

/* --- the core's clock --------------------------------------------------------------------------
 */

static void
interrupted_pieces_do_not_move_the_cores_clock(void **state)
{
	struct weir_core_clock clock = {.count = 12};

	(void)state;
	for (unsigned int i = 0; i < clock.count; i++)
		clock.tsc_per_add[i] = i % 2 == 0 ? 0.499 : 0.501;
	assert_true(fabs(weir_core_clock_ratio(&clock) - 2) < 1e-6);
	clock.tsc_per_add[3] = 0.2;
	clock.tsc_per_add[7] = 5;
	assert_true(fabs(weir_core_clock_ratio(&clock) - 2) < 0.002);
	clock.count = 0;
	assert_true(weir_core_clock_ratio(&clock) == 0);
}

static void
a_core_retires_more_than_one_instruction_a_cycle_and_less_than_twenty(void **state)
{
	double most = weir_core_retires_most();

	(void)state;
	assert_true(most > 1.5 && most < 20);
}

/* --- counters ----------------------------------------------------------------------------------
 */

static void
a_probe_counts_what_happens_between_begin_and_end(void **state)
{
	/* Events that every kernel counts, in place of a processor's. */
	static const struct weir_probe_event events[] = {
		{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	};
	const size_t pages = 64, page = sysconf(_SC_PAGESIZE);
	uint64_t sums[WEIR_PROBE_EVENTS_MAX];
	struct weir_probe probe;
	uint8_t *memory = mmap(NULL, 2 * pages * page, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	madvise(memory, 2 * pages * page, MADV_NOHUGEPAGE);
	weir_probe_open(&probe, events, 2);
	if (probe.event_count == 0) {
		print_message("skipped: this kernel gives this process no counters at all\n");
		skip();
	}
	weir_probe_begin(&probe);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	weir_probe_end(&probe);
	for (size_t i = pages; i < 2 * pages; i++)
		memory[i * page] = 1;
	weir_probe_take(&probe, sums);
	assert_in_range(sums[0], pages, 2 * pages - 1); /* some more under a sanitiser */
	weir_probe_take(&probe, sums);
	assert_int_equal(sums[0], 0);
	weir_probe_close(&probe);
	munmap(memory, 2 * pages * page);
}

static void
a_processor_without_counters_is_told_with_the_reason(void **state)
{
	static const struct weir_probe_event events[] = {{"cycles", 12345, 0}};
	struct weir_probe probe;

	(void)state;
	weir_probe_open(&probe, events, 1);
	assert_int_equal(probe.event_count, 0);
	assert_non_null(strstr(probe.reason, "no counter of cycles"));
}

/* --- memory and other cores --------------------------------------------------------------------
 */

static void
memory_is_farther_than_the_first_cache(void **state)
{
	struct weir_machine_series near, far;
	bool huge;

	(void)state;
	assert_int_equal(weir_machine_chase(16 << 10, &near, &huge), 0);
	assert_int_equal(weir_machine_chase(64 << 20, &far, &huge), 0);
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++)
		assert_true(near.cycles[i] > 0 && near.cycles[i] < far.cycles[i]);
}

static void
there_is_no_distance_to_a_cpu_that_there_is_not(void **state)
{
	struct weir_machine_distance distance;
	struct weir_machine_transfer transfer;

	(void)state;
	assert_int_equal(weir_machine_distance(CPU_SETSIZE - 1, &distance), -1);
	assert_int_equal(weir_machine_transfers(CPU_SETSIZE - 1, &transfer), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted_pieces_do_not_move_the_cores_clock),
		cmocka_unit_test(
			a_core_retires_more_than_one_instruction_a_cycle_and_less_than_twenty),
		cmocka_unit_test(a_probe_counts_what_happens_between_begin_and_end),
		cmocka_unit_test(a_processor_without_counters_is_told_with_the_reason),
		cmocka_unit_test(memory_is_farther_than_the_first_cache),
		cmocka_unit_test(there_is_no_distance_to_a_cpu_that_there_is_not),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
