/* SPDX-License-Identifier: Apache-2.0 */
/* When packets are due, by the time-stamp counter. */
#ifndef WEIR_TRAFFIC_PACING_H
#define WEIR_TRAFFIC_PACING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Poisson arrivals: exponential gaps by inverse transform, from a seeded generator. */
struct weir_pacing {
	uint64_t start_tsc;
	double packets_per_cycle; /* 0: no limit */
	bool poisson;
	uint64_t random;
	double next_due_cycles; /* Poisson: of the first packet not yet due */
	uint64_t due;
};

uint64_t weir_random_next(uint64_t *state);

static inline double
weir_pacing_gap_cycles(struct weir_pacing *pacing)
{
	double uniform = (double)((weir_random_next(&pacing->random) >> 11) + 1) * 0x1p-53;

	return -log(uniform) / pacing->packets_per_cycle;
}

/* How many packets should have been sent by `now_tsc`, from the start; `bound` caps the work of one
 * call. */
static inline uint64_t
weir_pacing_due(struct weir_pacing *pacing, uint64_t now_tsc, uint64_t bound)
{
	double elapsed;

	if (now_tsc <= pacing->start_tsc)
		return 0;
	if (pacing->packets_per_cycle == 0)
		return bound;
	elapsed = (double)(now_tsc - pacing->start_tsc);
	if (!pacing->poisson) {
		pacing->due = (uint64_t)(elapsed * pacing->packets_per_cycle);
		return pacing->due;
	}
	while (pacing->next_due_cycles <= elapsed && pacing->due < bound) {
		pacing->due++;
		pacing->next_due_cycles += weir_pacing_gap_cycles(pacing);
	}
	return pacing->due;
}

#endif
