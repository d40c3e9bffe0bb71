/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When packets are due, by the time-stamp counter. Constant: packet n (from 0) at (n + 1) / rate,
 * rate x duration of them in all, rounded down. Poisson (RFC 2330 section 11.1.1): exponential
 * gaps; as many packets as the process draws within the duration, rate x duration in the mean. Any
 * rate may change with time, by a schedule; and any sender may end after a number of packets (a
 * burst).
 */
#ifndef WEIR_TRAFFIC_PACING_H
#define WEIR_TRAFFIC_PACING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "random.h"
#include "schedule.h"

#define WEIR_PACING_DRAWN 32 /* Poisson: no more than these are due and not yet sent */

struct weir_pacing {
	uint64_t start_tsc;
	uint64_t duration_cycles;
	bool limited;	  /* else as fast as can be */
	uint64_t planned; /* no more than these; UINT64_MAX: the duration decides */
	bool poisson;	  /* gaps are drawn: from the process, or from a record */
	uint64_t random;
	const double *recorded_gaps; /* in any unit, taken in turn; NULL: the process's */
	uint32_t recorded_count, recorded_at;
	double recorded_mean; /* in that unit */
	double next_due; /* Poisson: packets of the schedule by the first one not yet drawn as due
			  */
	double next_due_cycles; /* when that is */
	uint64_t due;		/* Poisson: packets drawn */
	struct weir_schedule schedule;
	/* Poisson: due times of the packets drawn last, by sequence number. Last member: a receiver
	 * reads those above while a generator writes the following, and cuts the duration. */
	uint64_t drawn_cycles[WEIR_PACING_DRAWN];
};

/* The gap behind gap `at` of a record. */
static inline uint32_t
weir_pacing_behind(const struct weir_pacing *pacing, uint32_t at)
{
	return at + 1 == pacing->recorded_count ? 0 : at + 1;
}

/* As a share of the mean one. */
static inline double
weir_pacing_gap(struct weir_pacing *pacing)
{
	if (pacing->recorded_gaps != NULL) {
		pacing->recorded_at = weir_pacing_behind(pacing, pacing->recorded_at);
		return pacing->recorded_gaps[pacing->recorded_at] / pacing->recorded_mean;
	}
	return -log(1 - weir_random_unit(&pacing->random));
}

/* A gap is as long as the rate of its time makes it. */
static inline void
weir_pacing_draw(struct weir_pacing *pacing, double gap)
{
	pacing->next_due += gap;
	pacing->next_due_cycles = weir_schedule_part_cycles(
		weir_schedule_part_of(&pacing->schedule, pacing->next_due), pacing->next_due);
}

/* `rate_pps` 0: no limit. The start is still to be set. */
static inline struct weir_pacing
weir_pacing_of(double rate_pps, uint64_t duration_ns, uint64_t tsc_hz, bool poisson, uint64_t seed)
{
	struct weir_pacing pacing = {
		.duration_cycles = (uint64_t)ceil((double)duration_ns * 1e-9 * (double)tsc_hz),
		.limited = rate_pps > 0,
		.planned = UINT64_MAX,
		.poisson = poisson && rate_pps > 0,
		.random = seed,
	};

	weir_schedule_begin(&pacing.schedule, rate_pps / (double)tsc_hz);
	if (pacing.poisson)
		weir_pacing_draw(&pacing, weir_pacing_gap(&pacing));
	else if (rate_pps > 0) /* the little more is for decimal fractions that binary cuts */
		pacing.planned = (uint64_t)(rate_pps * (double)duration_ns / 1e9 + 1e-6);
	return pacing;
}

/* From `after_ns` on the rate is `factor` x the first one, which has a limit; 0: a pause. Times go
 * up from change to change; WEIR_SCHEDULE_PARTS - 1 of them at most. */
static inline void
weir_pacing_then(struct weir_pacing *pacing, double factor, uint64_t after_ns, uint64_t tsc_hz)
{
	struct weir_schedule *schedule = &pacing->schedule;
	double duration = (double)pacing->duration_cycles;
	double from = fmin((double)after_ns * 1e-9 * (double)tsc_hz, duration);

	weir_schedule_then(schedule, from, factor * schedule->parts[0].packets_per_cycle);
	if (pacing->poisson)
		weir_pacing_draw(pacing, 0);
	else
		pacing->planned =
			(uint64_t)(weir_schedule_packets(schedule, pacing->duration_cycles) + 1e-6);
}

/*
 * Gaps of a record in place of a process's, from the second one of `gaps` on and round again, for a
 * rate above 0. The first packet is due at once. `mean_gap`, not 0, is theirs: in the mean the rate
 * is that of the run. `gaps` outlives the pacing.
 */
static inline void
weir_pacing_record(struct weir_pacing *pacing, const double *gaps, uint32_t count, double mean_gap)
{
	pacing->poisson = true;
	pacing->planned = UINT64_MAX;
	pacing->recorded_gaps = gaps;
	pacing->recorded_count = count;
	pacing->recorded_at = 0;
	pacing->recorded_mean = mean_gap;
	pacing->next_due = pacing->next_due_cycles = 0;
}

/* Ends after that many packets, or with the duration. */
static inline void
weir_pacing_limit(struct weir_pacing *pacing, uint64_t packets)
{
	if (packets < pacing->planned)
		pacing->planned = packets;
}

/* Constant rates alone: packets due that long after the start, if nothing limits them. */
static inline uint64_t
weir_pacing_constant_due(const struct weir_pacing *pacing, uint64_t elapsed)
{
	return (uint64_t)weir_schedule_packets(&pacing->schedule, elapsed);
}

/* Whether the sequence number of a packet tells when it was due. */
static inline bool
weir_pacing_is_constant(const struct weir_pacing *pacing)
{
	return pacing->limited && !pacing->poisson;
}

/* Constant rates alone: when packet `sequence`, from 0, is due after the start, not rounded. */
static inline double
weir_pacing_due_cycles(const struct weir_pacing *pacing, uint64_t sequence)
{
	double packets = (double)sequence + 1;

	return weir_schedule_part_cycles(weir_schedule_part_of(&pacing->schedule, packets),
					 packets);
}

/*
 * Constant rates alone: when packet `sequence` was due. That is the first moment at which
 * weir_pacing_due() counts it: a generator that is never late sends it then.
 */
static inline uint64_t
weir_pacing_due_tsc(const struct weir_pacing *pacing, uint64_t sequence)
{
	uint64_t elapsed = (uint64_t)weir_pacing_due_cycles(pacing, sequence);

	if (weir_pacing_constant_due(pacing, elapsed) <= sequence)
		elapsed++;
	else if (elapsed > 0 && weir_pacing_constant_due(pacing, elapsed - 1) > sequence)
		elapsed--;
	/* The last one of all is due with the end, however the division is rounded. */
	if (elapsed > pacing->duration_cycles)
		elapsed = pacing->duration_cycles;
	return pacing->start_tsc + elapsed;
}

/* Poisson alone: when packet `sequence` was due, one of those drawn last. */
static inline uint64_t
weir_pacing_drawn_tsc(const struct weir_pacing *pacing, uint64_t sequence)
{
	return pacing->start_tsc + pacing->drawn_cycles[sequence % WEIR_PACING_DRAWN];
}

/* How many packets should have been sent by `now_tsc`, from the start, never more than the duration
 * holds; `bound` caps the work of one call. */
static inline uint64_t
weir_pacing_due(struct weir_pacing *pacing, uint64_t now_tsc, uint64_t bound)
{
	uint64_t elapsed, due;

	if (now_tsc <= pacing->start_tsc)
		return 0;
	if (!pacing->limited)
		return bound < pacing->planned ? bound : pacing->planned;
	elapsed = now_tsc - pacing->start_tsc;
	if (elapsed > pacing->duration_cycles)
		elapsed = pacing->duration_cycles;
	if (!pacing->poisson) {
		due = weir_pacing_constant_due(pacing, elapsed);
		return due > pacing->planned || elapsed == pacing->duration_cycles ? pacing->planned
										   : due;
	}
	while (pacing->next_due_cycles <= (double)elapsed && pacing->due < bound) {
		pacing->drawn_cycles[pacing->due++ % WEIR_PACING_DRAWN] =
			(uint64_t)ceil(pacing->next_due_cycles);
		weir_pacing_draw(pacing, weir_pacing_gap(pacing));
	}
	return pacing->due < pacing->planned ? pacing->due : pacing->planned;
}

/* Whether no packet becomes due after those `sent`. Without a limit: never, the clock decides. */
static inline bool
weir_pacing_ended(const struct weir_pacing *pacing, uint64_t sent)
{
	if (!pacing->poisson || sent >= pacing->planned)
		return sent >= pacing->planned;
	return pacing->next_due_cycles > (double)pacing->duration_cycles && sent >= pacing->due;
}

/* Ends at `now_tsc` what would go on longer: the load asks for what is due by then. */
static inline void
weir_pacing_cut(struct weir_pacing *pacing, uint64_t now_tsc)
{
	uint64_t elapsed = now_tsc > pacing->start_tsc ? now_tsc - pacing->start_tsc : 0;

	if (elapsed >= pacing->duration_cycles)
		return;
	if (weir_pacing_is_constant(pacing))
		weir_pacing_limit(pacing, weir_pacing_constant_due(pacing, elapsed));
	__atomic_store_n(&pacing->duration_cycles, elapsed, __ATOMIC_RELAXED);
}

/* Of a record that goes on behind the packet last drawn: how many of its packets become due while
 * the schedule's rate makes `packets` of mean gaps. Whole passes, and the rest gap by gap. */
static inline uint64_t
weir_pacing_recorded_within(const struct weir_pacing *pacing, double packets)
{
	uint64_t passes = (uint64_t)(packets / pacing->recorded_count);
	uint64_t found = passes * pacing->recorded_count;
	double rest = packets - (double)found;
	uint32_t at = pacing->recorded_at;

	for (uint32_t i = 0; i < pacing->recorded_count; i++) {
		at = weir_pacing_behind(pacing, at);
		rest -= pacing->recorded_gaps[at] / pacing->recorded_mean;
		if (rest < 0)
			break;
		found++;
	}
	return found;
}

/*
 * The packets that the load asks for, once sending has ended; without any limit those `sent`. If
 * the sender was too late to draw a Poisson process to its end, the part not drawn counts with its
 * mean: drawing it now could take hours. Of a record it is known, and may be a burst.
 */
static inline uint64_t
weir_pacing_intended(const struct weir_pacing *pacing, uint64_t sent)
{
	double rest = weir_schedule_packets(&pacing->schedule, pacing->duration_cycles) -
		      pacing->next_due;
	uint64_t intended = pacing->due;

	if (!pacing->limited)
		return pacing->planned != UINT64_MAX ? pacing->planned : sent;
	if (!pacing->poisson)
		return pacing->planned;
	/* The packet at next_due_cycles is known, those of a process after it are not. */
	if (rest >= 0)
		intended += 1 + (pacing->recorded_gaps != NULL
					 ? weir_pacing_recorded_within(pacing, rest)
					 : (uint64_t)llround(rest));
	return intended < pacing->planned ? intended : pacing->planned;
}

#endif
