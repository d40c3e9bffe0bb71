/* SPDX-License-Identifier: Apache-2.0 */
#include "device_clock.h"

#include <math.h>

#include <rte_common.h>
#include <rte_cycles.h>

/* The narrowest of so many tries counts: one that was interrupted says little. */
#define TRIES 5
#define FIRST_READINGS 16
#define FIRST_GAP_US 10000
#define WANDER 10e-6
/* The line is used until the reading after the next one at latest. */
#define HORIZON_S (2 * WEIR_CLOCK_FOLLOW_MS / 1e3)

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool
read_between(struct weir_device_clock *clock, struct weir_clock_reading *best)
{
	best->half_cycles = UINT64_MAX;
	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t ticks, before, cycles;

		before = rte_rdtsc_precise();
		if (clock->read(clock->ethdev_id, &ticks) != 0)
			return false;
		cycles = rte_rdtsc_precise() - before;
		if (clock->last_ticks != 0 && ticks > clock->last_ticks)
			clock->granule_ticks =
				common_divisor(clock->granule_ticks, ticks - clock->last_ticks);
		clock->last_ticks = ticks;
		if (cycles / 2 < best->half_cycles)
			*best = (struct weir_clock_reading){
				.ticks = ticks,
				.tsc = before + cycles / 2,
				.half_cycles = cycles / 2 + 1,
			};
	}
	return true;
}

static const struct weir_clock_reading *
reading_at(const struct weir_device_clock *clock, unsigned int age)
{
	return &clock->readings[(clock->next + WEIR_CLOCK_READINGS - 1 - age) %
				WEIR_CLOCK_READINGS];
}

/* Weighted least squares, in ticks and cycles from the newest reading. */
static void
draw(struct weir_device_clock *clock)
{
	const struct weir_clock_reading *newest = reading_at(clock, 0);
	double weights = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, spread, offset;

	for (unsigned int i = 0; i < clock->count; i++) {
		const struct weir_clock_reading *one = reading_at(clock, i);
		double weight = 1 / ((double)one->half_cycles * (double)one->half_cycles);
		double x = (double)(int64_t)(one->ticks - newest->ticks);
		double y = (double)(int64_t)(one->tsc - newest->tsc);

		weights += weight;
		sum_x += weight * x;
		sum_y += weight * y;
		sum_xx += weight * x * x;
		sum_xy += weight * x * y;
	}
	spread = weights * sum_xx - sum_x * sum_x;
	if (clock->count > 1 && spread > 0)
		clock->line.cycles_per_tick = (weights * sum_xy - sum_x * sum_y) / spread;
	offset = (sum_y - clock->line.cycles_per_tick * sum_x) / weights;
	clock->line.ticks = newest->ticks;
	clock->line.tsc = newest->tsc + (uint64_t)(int64_t)llround(offset);
}

/* How far the line can be off at a reading. */
static double
off_at(const struct weir_device_clock *clock, const struct weir_clock_reading *reading)
{
	int64_t away = (int64_t)(reading->tsc - weir_arrival_tsc(&clock->line, reading->ticks));

	return (double)reading->half_cycles + fabs((double)away);
}

/* What those readings allow that allow least, and a clock that counts in steps. */
static void
bound(struct weir_device_clock *clock)
{
	const struct weir_clock_reading *newest = reading_at(clock, 0);
	double granule_cycles = (double)clock->granule_ticks * clock->line.cycles_per_tick;
	double rate = clock->count > 1 ? INFINITY : WANDER, least = INFINITY;

	for (unsigned int i = 0; i < clock->count; i++) {
		for (unsigned int j = i + 1; j < clock->count; j++) {
			const struct weir_clock_reading *late = reading_at(clock, i);
			const struct weir_clock_reading *early = reading_at(clock, j);
			double off = off_at(clock, late) + off_at(clock, early);

			rate = fmin(rate, off / (double)(late->tsc - early->tsc));
		}
	}
	for (unsigned int i = 0; i < clock->count; i++) {
		const struct weir_clock_reading *one = reading_at(clock, i);
		double age = (double)(newest->tsc - one->tsc);

		least = fmin(least, off_at(clock, one) + rate * age);
	}
	clock->line.rate_uncertainty = rate;
	clock->line.uncertainty_cycles = least + granule_cycles;
}

double
weir_device_clock_uncertainty_ns(const struct weir_device_clock *clock)
{
	double hz = (double)rte_get_tsc_hz();
	uint64_t horizon_tsc = clock->line.tsc + (uint64_t)(HORIZON_S * hz);

	return (double)weir_arrival_uncertainty(&clock->line, horizon_tsc) * 1e9 / hz;
}

static bool
is_step(const struct weir_device_clock *clock, const struct weir_clock_reading *reading)
{
	const struct weir_clock_reading *last = reading_at(clock, 0);
	double since = (double)(reading->tsc - last->tsc);
	double known = (double)weir_arrival_uncertainty(&clock->line, reading->tsc);

	return clock->line.cycles_per_tick > 0 &&
	       off_at(clock, reading) > 2 * (double)reading->half_cycles + known + WANDER * since;
}

void
weir_device_clock_add(struct weir_device_clock *clock, struct weir_clock_reading reading)
{
	if (clock->count > 0 && is_step(clock, &reading)) {
		clock->line.steps++;
		clock->count = 0;
	}
	clock->readings[clock->next] = reading;
	clock->next = (clock->next + 1) % WEIR_CLOCK_READINGS;
	clock->count = RTE_MIN(clock->count + 1, (unsigned int)WEIR_CLOCK_READINGS);
	draw(clock);
	bound(clock);
}

bool
weir_device_clock_follow(struct weir_device_clock *clock)
{
	struct weir_clock_reading reading;

	if (!read_between(clock, &reading))
		return false;
	if (clock->count > 0 && reading.ticks == reading_at(clock, 0)->ticks)
		return false;
	weir_device_clock_add(clock, reading);
	return true;
}

const char *
weir_device_clock_begin(struct weir_device_clock *clock)
{
	for (unsigned int i = 0; i < FIRST_READINGS; i++) {
		if (i > 0)
			rte_delay_us_sleep(FIRST_GAP_US);
		if (!weir_device_clock_follow(clock))
			return i == 0 ? "its clock cannot be read" : "its clock stands still";
	}
	return clock->line.steps > 0 || clock->line.cycles_per_tick <= 0
		       ? "its clock does not run evenly"
		       : NULL;
}

double
weir_device_clock_resolution_ns(const struct weir_device_clock *clock)
{
	double cycles = (double)RTE_MAX(clock->granule_ticks, 1u) * clock->line.cycles_per_tick;

	return fmax(cycles, 1) * 1e9 / (double)rte_get_tsc_hz();
}
