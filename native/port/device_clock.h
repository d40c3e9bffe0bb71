/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's clock beside the time-stamp counter: read between two readings of the counter, again
 * and again, and a straight line through the last readings.
 *
 * How exact that is, is known and not estimated: the true moment of a reading lies between the two
 * readings of the counter. So the line is off by at most half of that and its distance from the
 * reading's middle; its rate by at most what two such readings allow. That holds while the clock's
 * rate does, which is why old readings are forgotten. Control thread only.
 */
#ifndef WEIR_PORT_DEVICE_CLOCK_H
#define WEIR_PORT_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/arrival_clock.h"

#define WEIR_CLOCK_READINGS 32
#define WEIR_CLOCK_FOLLOW_MS 100 /* from one reading to the next: the last 3 s are kept */

/* One moment by both clocks: the counter's time is right within half_cycles. */
struct weir_clock_reading {
	uint64_t ticks, tsc, half_cycles;
};

/* Reads the clock of that ethdev. 0, or a negative errno. */
typedef int (*weir_clock_read_fn)(uint16_t ethdev_id, uint64_t *ticks);

struct weir_device_clock {
	weir_clock_read_fn read;
	uint16_t ethdev_id;
	bool timesync;		/* to be disabled in the end */
	uint64_t granule_ticks; /* that divide all differences of its readings */
	unsigned int count, next;
	struct weir_clock_reading readings[WEIR_CLOCK_READINGS];
	uint64_t last_ticks; /* read last; 0: nothing was */
	struct weir_arrival_clock line;
};

/*
 * Begins to follow the clock; `read` and `ethdev_id` are set, and `line`'s field and flag. Takes a
 * sixth of a second. NULL, or why it cannot be followed.
 */
const char *weir_device_clock_begin(struct weir_device_clock *clock);
/* Reads it once more, and draws the line anew. False if it could not be read, or stands still. */
bool weir_device_clock_follow(struct weir_device_clock *clock);

/*
 * The line with one more reading. A reading that is off by more than the uncertainties of both, and
 * ten millionths of the time since the last one, is a step: somebody set the clock, and what was
 * read before counts no more but for the rate.
 */
void weir_device_clock_add(struct weir_device_clock *clock, struct weir_clock_reading reading);

/* How far a stamp's time can be off until the line is drawn the time after next. */
double weir_device_clock_uncertainty_ns(const struct weir_device_clock *clock);
/* The smallest difference that its stamps show. */
double weir_device_clock_resolution_ns(const struct weir_device_clock *clock);

#endif
