/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rate over time: constant in each of some parts. Tells the packets that are due by a time, and
 * the time of a packet, both since the start. Packets and cycles may have fractions.
 */
#ifndef WEIR_TRAFFIC_SCHEDULE_H
#define WEIR_TRAFFIC_SCHEDULE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define WEIR_SCHEDULE_PARTS 256

struct weir_schedule_part {
	double cycles, packets;	  /* at its beginning */
	double end_packets;	  /* at its end; of the last one infinite */
	uint64_t end_cycles;	  /* of the last one UINT64_MAX */
	double packets_per_cycle; /* 0: nothing is due in it */
	double cycles_per_packet; /* its inverse */
};

struct weir_schedule {
	uint32_t count;
	struct weir_schedule_part parts[WEIR_SCHEDULE_PARTS];
};

/* One rate for ever. */
static inline void
weir_schedule_begin(struct weir_schedule *schedule, double packets_per_cycle)
{
	schedule->count = 1;
	schedule->parts[0] = (struct weir_schedule_part){
		.end_packets = INFINITY,
		.end_cycles = UINT64_MAX,
		.packets_per_cycle = packets_per_cycle,
		.cycles_per_packet = 1 / packets_per_cycle,
	};
}

/* Another rate from there on, which is behind the beginning of the last part. There is room. */
static inline void
weir_schedule_then(struct weir_schedule *schedule, double from_cycles, double packets_per_cycle)
{
	struct weir_schedule_part *last = &schedule->parts[schedule->count - 1];

	last->end_cycles = (uint64_t)from_cycles;
	last->end_packets = last->packets + (from_cycles - last->cycles) * last->packets_per_cycle;
	schedule->parts[schedule->count++] = (struct weir_schedule_part){
		.cycles = from_cycles,
		.packets = last->end_packets,
		.end_packets = INFINITY,
		.end_cycles = UINT64_MAX,
		.packets_per_cycle = packets_per_cycle,
		.cycles_per_packet = 1 / packets_per_cycle,
	};
}

static inline double
weir_schedule_packets(const struct weir_schedule *schedule, uint64_t cycles)
{
	uint32_t low = 0, high = schedule->count - 1;
	const struct weir_schedule_part *part;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (cycles <= schedule->parts[middle].end_cycles)
			high = middle;
		else
			low = middle + 1;
	}
	part = &schedule->parts[low];
	return part->packets + ((double)cycles - part->cycles) * part->packets_per_cycle;
}

/* The part in which that packet is due. */
static inline const struct weir_schedule_part *
weir_schedule_part_of(const struct weir_schedule *schedule, double packets)
{
	uint32_t low = 0, high = schedule->count - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (packets <= schedule->parts[middle].end_packets)
			high = middle;
		else
			low = middle + 1;
	}
	return &schedule->parts[low];
}

/* Infinite: behind the last packet of a schedule that ends without any. */
static inline double
weir_schedule_part_cycles(const struct weir_schedule_part *part, double packets)
{
	double over = packets - part->packets;

	return over > 0 ? part->cycles + over * part->cycles_per_packet : part->cycles;
}

#endif
