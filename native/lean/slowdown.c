/* SPDX-License-Identifier: Apache-2.0 */
#include "slowdown.h"

#include <stdlib.h>
#include <string.h>

#define CALIBRATION_BATCHES 256
#define CALIBRATIONS 25
#define CORRECTIONS 4

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

static int
by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double
cycles_with(struct weir_lean *lean, unsigned int stage, uint64_t spins)
{
	struct weir_lean_timed timed;

	spins_a_batch = spins;
	weir_lean_time(lean, CALIBRATION_BATCHES, &timed);
	return timed.stages[stage].middle;
}

/* Cycles that so many spins add to a batch of the stage, where they run: a processor does some of
 * them beside what comes before and after. The median, because a host disturbs some. */
static double
added_by(struct weir_lean *lean, unsigned int stage, uint64_t spins)
{
	double added[CALIBRATIONS];

	for (unsigned int i = 0; i < CALIBRATIONS; i++) {
		double with = cycles_with(lean, stage, spins);

		added[i] = with - cycles_with(lean, stage, 0);
	}
	qsort(added, CALIBRATIONS, sizeof(added[0]), by_size);
	return added[CALIBRATIONS / 2];
}

void
weir_slowdown_begin(struct weir_lean *lean, unsigned int stage, double percent)
{
	struct weir_lean_timed timed;
	double wanted, spins;

	weir_lean_time(lean, CALIBRATION_BATCHES * CALIBRATIONS, &timed);
	wanted = timed.stages[stage].middle * percent / 100;
	original = lean->path->stages[stage].nf;
	slow = *original;
	if (slow.decide != NULL)
		slow.decide = decide_slowly;
	else
		slow.process = process_slowly;
	lean->path->stages[stage].nf = &slow;
	spins = wanted;
	for (unsigned int i = 0; i < CORRECTIONS; i++) {
		double added = added_by(lean, stage, spins + 0.5);

		/* In steps: a disturbed measurement must not lead far away. */
		spins *= added > 0 ? RTE_MAX(0.7, RTE_MIN(wanted / added, 1.5)) : 1.5;
	}
	spins_a_batch = spins + 0.5;
}
