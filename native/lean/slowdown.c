/* SPDX-License-Identifier: Apache-2.0 */
#include "slowdown.h"

#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "order.h"

#define BLOCK_BATCHES 128 /* with and without in turn: what drifts, drifts for both */
#define PAIRS 48
#define ROUNDS 15
#define LOOKED_BACK 64 /* batches, after which it looks what the stage takes by itself */
#define OF_OLD 3       /* parts of four that an earlier look keeps */

static const struct weir_nf *original;
static struct weir_nf slow;
static struct weir_stage *slow_stage;
static double share;	 /* of its own cycles that the stage is to take more */
static double own_share; /* of the same: what waiting takes besides what it waits for */
static double plain;	 /* cycles of a batch of the stage by itself, lately */
static uint64_t additions;
static unsigned int batches; /* since it looked back */
static uint64_t counted;     /* the stage's cycles then */
static const struct weir_lean *measured;

/* What the last batches took tells what the stage takes now: with a disturbed machine it is more,
 * and so is a share of it. An interrupted batch counts as one that was merely expensive. */
static void
look_back(void)
{
	uint64_t now = slow_stage->ledger.cycles;
	double took = (double)(now - counted) / LOOKED_BACK / (1 + share);

	counted = now;
	batches = 0;
	if (plain == 0)
		plain = took;
	plain = (OF_OLD * plain + RTE_MIN(took, 1.25 * plain)) / (OF_OLD + 1);
	additions = RTE_MAX(plain * (share - own_share), 0.0) * measured->core_per_tsc + 0.5;
}

/* By additions, as many as the core makes in that time, and by as little else as can be: waiting
 * for the clock would end at one of its steps, and what follows would be timed from there. */
static void
wait_a_share(void)
{
	weir_core_clock_add(additions);
	if (++batches == LOOKED_BACK)
		look_back();
}

static void
decide_slowly(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	original->decide(state, batch, actions);
	wait_a_share();
}

static void
process_slowly(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	original->process(state, batch, ledger);
	wait_a_share();
}

static bool
forward_slowly(void *state, struct weir_batch *batch)
{
	if (!original->forward(state, batch))
		return false;
	wait_a_share();
	return true;
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

static double
cycles_of_stage(struct weir_lean *lean, unsigned int stage)
{
	struct weir_lean_timed timed;

	weir_lean_time(lean, BLOCK_BATCHES, &timed);
	return timed.cycled > 0 ? (double)timed.stages[stage].cycles / timed.cycled : 0;
}

/* By what own_share is too small: so much is waited too long, and makes the stage look more
 * expensive, of which the share is waited too. A share and not cycles: beside a busy neighbour all
 * of them are more, what the stage takes and what waiting does. Mean of the middle half of the
 * pairs. */
static double
missing_share(struct weir_lean *lean, unsigned int stage)
{
	double found[PAIRS], sum = 0;

	for (unsigned int i = 0; i < PAIRS; i++) {
		double with, without;

		weir_slowdown_switch(true);
		with = cycles_of_stage(lean, stage);
		weir_slowdown_switch(false);
		without = cycles_of_stage(lean, stage);
		/* Behind a fast path that knows all packets there is nothing to make slower. */
		found[i] = without > 0 ? with / without - (1 + share) : 0;
	}
	weir_order(found, PAIRS);
	for (unsigned int i = PAIRS / 4; i < PAIRS - PAIRS / 4; i++)
		sum += found[i];
	return sum / (PAIRS / 2) / (1 + share);
}

/* The median of several rounds: the host disturbs some of them. */
static double
calibrated(struct weir_lean *lean, unsigned int stage)
{
	double found[ROUNDS];

	own_share = missing_share(lean, stage);
	for (unsigned int i = 0; i < ROUNDS; i++)
		found[i] = own_share + missing_share(lean, stage);
	weir_order(found, ROUNDS);
	return found[ROUNDS / 2];
}

double
weir_slowdown_begin(struct weir_lean *lean, unsigned int stage, double percent, double cost_percent)
{
	measured = lean;
	slow_stage = &lean->path->stages[stage];
	original = slow_stage->nf;
	slow = *original;
	if (slow.decide != NULL)
		slow.decide = decide_slowly;
	else
		slow.process = process_slowly;
	if (slow.forward != NULL)
		slow.forward = forward_slowly;
	share = percent / 100;
	own_share = isnan(cost_percent) ? calibrated(lean, stage) : cost_percent / 100;
	weir_slowdown_switch(true);
	return 100 * own_share;
}

void
weir_slowdown_switch(bool on)
{
	if (slow_stage == NULL)
		return;
	slow_stage->nf = on ? &slow : original;
	counted = slow_stage->ledger.cycles;
	batches = 0;
}
