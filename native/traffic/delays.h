/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-way delay of a stream's packets, and how it varies: IPDV (RFC 5481, section 4.1: the delay of
 * a packet less that of the packet sent before it, both received) and interarrival jitter (RFC
 * 3550, section 6.4.1: in order of arrival). PDV (RFC 5481, section 4.2) is the
 * delay less the least delay, so its quantiles are those of the delay, less its minimum.
 *
 * The delay begins when the packet was due. Otherwise a generator that is late would hide the delay
 * of the packets that it holds back ("coordinated omission"). At a constant rate the sequence
 * number gives that time; with Poisson gaps the stamp has it; and without a rate a packet is due
 * when it is sent. IPDV and jitter compare packets as the stamps have them: by the times of
 * sending, or with Poisson gaps by the due times.
 *
 * One packet may be tagged (RFC 2544, section 26.2): its delay is also reported by itself.
 *
 * Packets of one burst have one time of sending and one of arrival. So at high rates most delays
 * are that of the packet before, or less by the gap of a constant rate, and are counted together.
 */
#ifndef WEIR_TRAFFIC_DELAYS_H
#define WEIR_TRAFFIC_DELAYS_H

#include <stdbool.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "histogram.h"
#include "since_due.h"

/* Which packets' delays a run measures; the others are counted all the same. */
struct weir_delays_wanted {
	uint64_t from_tsc;	 /* not those sent before: the first seconds have slow paths */
	uint64_t sequence_limit; /* not those from this number on: the first packets alone */
	bool variation;
	uint64_t tag_tsc; /* the first packet sent from then on is the tagged one; UINT64_MAX: none
			   */
};

struct weir_delays {
	struct weir_delays_wanted wanted;
	const struct weir_pacing *pacing; /* of a constant rate; NULL: the stamp says when due */
	uint64_t negative; /* arrived before they were sent: a clock is wrong, and they have none */
	bool any;
	bool has_tagged;
	uint64_t tagged_cycles;
	/* Of the packet measured last; all of one burst have the same. */
	uint64_t last_tx_tsc, last_rx_tsc;
	uint64_t last_cycles;	/* between these two */
	uint64_t next_sequence; /* the one behind it; UINT64_MAX: there was none */
	/* Packets from this one to `next_sequence` are not counted yet; they are at `alike_end` at
	 * the latest. The first has the delay `ramp_first` (see weir_histogram_add_ramp()), each
	 * further one a step less, ... */
	uint64_t counted_to, alike_end;
	uint64_t ramp_first, ramp_step;
	uint64_t varied_to; /* ... and those from this one on have an IPDV of 0 */
	int64_t ipdv_min_cycles, ipdv_max_cycles;
	double jitter, jitter_max, jitter_sum; /* cycles */
	uint64_t jitter_count;
	/* Before the last weir_delays_take_extremes(). */
	double earlier_jitter_max;
	int64_t earlier_ipdv_min_cycles, earlier_ipdv_max_cycles;
	struct weir_histogram latency_cycles;
	struct weir_histogram ipdv_cycles; /* without its sign */
};

static inline void
weir_delays_clear(struct weir_delays *delays)
{
	memset(delays, 0, sizeof(*delays));
	delays->wanted.sequence_limit = UINT64_MAX;
	delays->wanted.tag_tsc = UINT64_MAX;
	delays->next_sequence = UINT64_MAX;
	delays->counted_to = UINT64_MAX;
	delays->varied_to = UINT64_MAX;
	delays->ipdv_min_cycles = INT64_MAX;
	delays->ipdv_max_cycles = INT64_MIN;
	delays->earlier_ipdv_min_cycles = INT64_MAX;
	delays->earlier_ipdv_max_cycles = INT64_MIN;
	weir_histogram_clear(&delays->latency_cycles);
	weir_histogram_clear(&delays->ipdv_cycles);
}

/* The difference between this packet's delay and that of the packet that arrived before it, both
 * from the stamp on. */
static inline void
weir_delays_add_variation(struct weir_delays *delays, uint64_t sequence, uint64_t cycles)
{
	int64_t difference = (int64_t)(cycles - delays->last_cycles);
	uint64_t size = (uint64_t)(difference < 0 ? -difference : difference);

	delays->jitter += ((double)size - delays->jitter) / 16;
	delays->jitter_sum += delays->jitter;
	delays->jitter_count++;
	if (delays->jitter > delays->jitter_max)
		delays->jitter_max = delays->jitter;
	if (sequence != delays->next_sequence)
		return;
	weir_histogram_add(&delays->ipdv_cycles, size);
	if (difference < delays->ipdv_min_cycles)
		delays->ipdv_min_cycles = difference;
	if (difference > delays->ipdv_max_cycles)
		delays->ipdv_max_cycles = difference;
}

/* Begins anew with the greatest jitter, and with the least and the greatest IPDV. On the thread
 * that adds. */
static inline void
weir_delays_take_extremes(struct weir_delays *delays)
{
	if (delays->jitter_max > delays->earlier_jitter_max)
		delays->earlier_jitter_max = delays->jitter_max;
	delays->jitter_max = 0;
	if (delays->ipdv_min_cycles < delays->earlier_ipdv_min_cycles)
		delays->earlier_ipdv_min_cycles = delays->ipdv_min_cycles;
	if (delays->ipdv_max_cycles > delays->earlier_ipdv_max_cycles)
		delays->earlier_ipdv_max_cycles = delays->ipdv_max_cycles;
	delays->ipdv_min_cycles = INT64_MAX;
	delays->ipdv_max_cycles = INT64_MIN;
}

/* So many packets at most are counted together. */
#define WEIR_DELAYS_ALIKE_MAX 64

/* What is left of a jitter after so many packets without a difference, below 128: each takes away a
 * sixteenth. */
static inline double
weir_delays_left(uint32_t packets)
{
#define SQUARE(x) ((x) * (x))
	static const double by_bit[] = {
		15 / 16.0,
		SQUARE(15 / 16.0),
		SQUARE(SQUARE(15 / 16.0)),
		SQUARE(SQUARE(SQUARE(15 / 16.0))),
		SQUARE(SQUARE(SQUARE(SQUARE(15 / 16.0)))),
		SQUARE(SQUARE(SQUARE(SQUARE(SQUARE(15 / 16.0))))),
		SQUARE(SQUARE(SQUARE(SQUARE(SQUARE(SQUARE(15 / 16.0)))))),
	};
#undef SQUARE
	double left = 1;

	for (unsigned int bit = 0; packets > 0; bit++, packets >>= 1) {
		if (packets & 1)
			left *= by_bit[bit];
	}
	return left;
}

/* Counts the packets that are not counted yet. */
static inline void
weir_delays_flush(struct weir_delays *delays)
{
	uint32_t waiting = (uint32_t)(delays->next_sequence - delays->counted_to);
	uint32_t alike = (uint32_t)(delays->next_sequence - delays->varied_to);
	double faded;

	if (waiting == 0)
		return;
	if (delays->pacing == NULL) {
		weir_histogram_add_many(&delays->latency_cycles, delays->last_cycles, waiting);
	} else {
		weir_since_due_add(&delays->latency_cycles, delays->ramp_first, delays->ramp_step,
				   waiting);
		delays->ramp_first -= RTE_MIN(delays->ramp_first, waiting * delays->ramp_step);
	}
	delays->counted_to = delays->next_sequence;
	delays->varied_to = delays->next_sequence;
	if (!delays->wanted.variation || alike == 0)
		return;
	weir_histogram_add_many(&delays->ipdv_cycles, 0, alike);
	if (delays->ipdv_min_cycles > 0)
		delays->ipdv_min_cycles = 0;
	if (delays->ipdv_max_cycles < 0)
		delays->ipdv_max_cycles = 0;
	delays->jitter_count += alike;
	/* A geometric series: with each, fifteen sixteenths of what was before. */
	faded = delays->jitter * weir_delays_left(alike);
	delays->jitter_sum += 15 * (delays->jitter - faded);
	delays->jitter = faded;
}

/* Begins a new group of packets to be counted together, with that one. */
static inline void
weir_delays_begin_alike(struct weir_delays *delays, uint64_t sequence, uint64_t rx_tsc)
{
	uint64_t end = delays->wanted.sequence_limit;

	if (delays->pacing != NULL) {
		struct weir_since_due since = weir_since_due(delays->pacing, sequence, rx_tsc);

		delays->ramp_first = since.first;
		delays->ramp_step = since.step;
		end = RTE_MIN(end, since.end);
	}
	delays->counted_to = sequence;
	delays->varied_to = sequence + 1;
	delays->alike_end = RTE_MIN(end, sequence + WEIR_DELAYS_ALIKE_MAX);
}

/* One that is not of the burst of the packet before. */
static inline void
weir_delays_add_other(struct weir_delays *delays, uint64_t sequence, uint64_t tx_tsc,
		      uint64_t rx_tsc)
{
	uint64_t cycles = rx_tsc - tx_tsc;

	if (unlikely(rx_tsc < tx_tsc)) {
		delays->negative++;
		return;
	}
	if (unlikely(tx_tsc >= delays->wanted.tag_tsc)) {
		delays->wanted.tag_tsc = UINT64_MAX;
		delays->tagged_cycles =
			delays->pacing == NULL
				? cycles
				: weir_since_due(delays->pacing, sequence, rx_tsc).first >>
					  WEIR_RAMP_PLACES;
		delays->has_tagged = true;
	}
	if (tx_tsc < delays->wanted.from_tsc || sequence >= delays->wanted.sequence_limit)
		return;
	if (delays->pacing != NULL || cycles != delays->last_cycles ||
	    sequence != delays->next_sequence || sequence >= delays->alike_end) {
		weir_delays_flush(delays);
		if (delays->wanted.variation && delays->any)
			weir_delays_add_variation(delays, sequence, cycles);
		weir_delays_begin_alike(delays, sequence, rx_tsc);
		delays->any = true;
		delays->last_cycles = cycles;
	}
	delays->next_sequence = sequence + 1;
	delays->last_tx_tsc = tx_tsc;
	delays->last_rx_tsc = rx_tsc;
}

/* A packet that counts as delivered. */
static inline void
weir_delays_add(struct weir_delays *delays, uint64_t sequence, uint64_t tx_tsc, uint64_t rx_tsc)
{
	if (likely(sequence == delays->next_sequence && tx_tsc == delays->last_tx_tsc &&
		   rx_tsc == delays->last_rx_tsc && sequence < delays->alike_end))
		delays->next_sequence = sequence + 1;
	else
		weir_delays_add_other(delays, sequence, tx_tsc, rx_tsc);
}

#endif
