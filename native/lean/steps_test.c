/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lean/chain_fixture_test.h"
#include "testing/eal.h"

/* Of two batches; the sanitizers' own checks are instructions, too. */
#ifdef __SANITIZE_ADDRESS__
#define BETWEEN_STAGES_MOST 2000
#else
#define BETWEEN_STAGES_MOST 200
#endif

static void
stages_and_what_is_between_them_are_all_instructions_of_a_path(void **state)
{
	struct weir_lean_stepped once, again;
	uint64_t stages;

	(void)state;
	assert_true(weir_steps_open());
	weir_lean_warm_up(&lean);
	weir_lean_step(&lean, 2, &once);
	weir_lean_step(&lean, 2, &again);
	stages = once.steps.stages[0] + once.steps.stages[1];
	assert_int_equal(once.packets, 2 * WEIR_BURST);
	assert_true(once.steps.stages[0] > 32 && once.steps.stages[1] > 16);
	assert_true(once.steps.stages[0] > once.steps.stages[1]); /* it has twice the packets */
	assert_in_range(once.steps.total - stages, 1, BETWEEN_STAGES_MOST);
	assert_int_equal(again.steps.total, once.steps.total);
}

static void
an_instruction_that_repeats_itself_counts_once(void **state)
{
	static uint8_t from[4096], to[4096];
	struct weir_steps steps = {0};
	void *source = from, *destination = to;
	size_t count = sizeof(from);

	(void)state;
	assert_true(weir_steps_open());
	weir_steps_begin(NULL);
	__asm__ volatile("rep movsb" : "+S"(source), "+D"(destination), "+c"(count) : : "memory");
	weir_steps_end(&steps);
	assert_in_range(steps.total, 1, 16); /* loads of its operands */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CHAIN(stages_and_what_is_between_them_are_all_instructions_of_a_path),
		cmocka_unit_test(an_instruction_that_repeats_itself_counts_once),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
