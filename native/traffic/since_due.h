/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long ago packets of a constant rate were due, at one moment: a ramp, as each was due one gap
 * after the one before it. At the moment of sending that is the lateness of the generator, at the
 * moment of arrival the latency.
 */
#ifndef WEIR_TRAFFIC_SINCE_DUE_H
#define WEIR_TRAFFIC_SINCE_DUE_H

#include <rte_branch_prediction.h>

#include "histogram.h"
#include "pacing.h"

struct weir_since_due {
	uint64_t first, step; /* cycles, with WEIR_RAMP_PLACES binary places */
	uint64_t end;	      /* the first packet behind it that has another gap */
};

static inline struct weir_since_due
weir_since_due(const struct weir_pacing *pacing, uint64_t sequence, uint64_t now_tsc)
{
	const double packets = (double)sequence + 1;
	const struct weir_schedule_part *part = weir_schedule_part_of(&pacing->schedule, packets);
	/* Behind the last packet of all, which only a packet that nobody sent can be: at the end.
	 */
	const uint64_t end_cycles = __atomic_load_n(&pacing->duration_cycles, __ATOMIC_RELAXED);
	double due_cycles = fmin(weir_schedule_part_cycles(part, packets), (double)end_cycles);
	uint64_t whole = (uint64_t)due_cycles;
	uint64_t rest = (uint64_t)((due_cycles - (double)whole) * WEIR_RAMP_ONE);
	uint64_t since = ((now_tsc - pacing->start_tsc - whole) << WEIR_RAMP_PLACES) - rest;

	return (struct weir_since_due){
		/* Less than none is the last digit of a product. */
		.first = (int64_t)since > 0 ? since : 0,
		/* In a pause, where only a forged stamp leads, there is no next packet. */
		.step = (uint64_t)fmin(part->cycles_per_packet * WEIR_RAMP_ONE, 0x1p62),
		.end = part->end_packets < 0x1p64 ? (uint64_t)part->end_packets : UINT64_MAX,
	};
}

/* Adds what `count` packets from there on have, all at that moment. They end before `end`. */
static inline void
weir_since_due_add(struct weir_histogram *histogram, uint64_t first, uint64_t step, uint32_t count)
{
	/* The last of them was due no later than now: what is beyond are places that were cut. */
	if (unlikely(first < step * (count - 1)))
		first = step * (count - 1);
	weir_histogram_add_ramp(histogram, first, step, count);
}

#endif
