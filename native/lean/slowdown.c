/* SPDX-License-Identifier: Apache-2.0 */
#include "slowdown.h"

#include <string.h>

#include "clock.h"

#define CALIBRATION_BATCHES 8192
#define CALIBRATION_SPINS 10000
#define CALIBRATIONS 200

static const struct weir_nf *original;
static struct weir_nf slow;
static uint64_t spins_a_batch;

/* One decrement after the other: an even cost, in steps of about a cycle. */
static void
spin(uint64_t count)
{
	if (count > 0)
		__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(count) : : "cc");
}

static void
decide_slowly(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	original->decide(state, batch, actions);
	spin(spins_a_batch);
}

static void
process_slowly(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	original->process(state, batch, ledger);
	spin(spins_a_batch);
}

int
weir_slowdown_stage(const struct weir_path *path, const char *name)
{
	for (unsigned int i = 0; i < path->stage_count; i++) {
		if (strcmp(path->stages[i].name, name) == 0)
			return i;
	}
	for (unsigned int i = 0; i < path->stage_count; i++) {
		if (strcmp(path->stages[i].nf->name, name) == 0)
			return i;
	}
	return -1;
}

/* The least of many: the others were interrupted, or warmed up. */
static double
cycles_a_spin(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < CALIBRATIONS; i++) {
		uint64_t start = weir_lean_now();

		spin(CALIBRATION_SPINS);
		least = RTE_MIN(least, weir_lean_now() - start);
	}
	return (double)least / CALIBRATION_SPINS;
}

void
weir_slowdown_begin(struct weir_lean *lean, unsigned int stage, double percent)
{
	struct weir_lean_timed timed;

	weir_lean_time(lean, CALIBRATION_BATCHES, &timed);
	spins_a_batch = timed.stages[stage].middle * percent / 100 / cycles_a_spin() + 0.5;
	original = lean->path->stages[stage].nf;
	slow = *original;
	if (slow.decide != NULL)
		slow.decide = decide_slowly;
	else
		slow.process = process_slowly;
	lean->path->stages[stage].nf = &slow;
}
