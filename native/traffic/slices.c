/* SPDX-License-Identifier: Apache-2.0 */
#include "slices.h"

#include <math.h>
#include <string.h>

#include <rte_common.h>

uint64_t
weir_slices_first(const struct weir_slices *slices, unsigned int slice)
{
	return (uint64_t)(slices->by_time ? ceil(slice * slices->width)
					  : floor(slice * slices->width));
}

void
weir_slices_begin(struct weir_slices *slices, unsigned int count, uint64_t width_cycles,
		  double packets_per_cycle)
{
	slices->count = count;
	slices->by_time = packets_per_cycle == 0;
	slices->width = (double)width_cycles * (slices->by_time ? 1 : packets_per_cycle);
	slices->now = slices->slice;
	slices->first_key = 0;
	slices->keys = count > 1 ? weir_slices_first(slices, 1) : INT64_MAX;
	memset(slices->slice, 0, RTE_MAX(count, 1u) * sizeof(slices->slice[0]));
}

/* Packets due later belong to the last one. Its keys end at half of all numbers, so that
 * a key before its first is none of them. */
void
weir_slices_move(struct weir_slices *slices, uint64_t key)
{
	unsigned int last = slices->count - 1;
	unsigned int at = (unsigned int)fmin(((double)key + 1) / slices->width, last);

	while (at > 0 && key < weir_slices_first(slices, at))
		at--;
	while (at < last && key >= weir_slices_first(slices, at + 1))
		at++;
	slices->now = &slices->slice[at];
	slices->first_key = weir_slices_first(slices, at);
	slices->keys =
		at < last ? weir_slices_first(slices, at + 1) - slices->first_key : INT64_MAX;
}

void
weir_slices_add_range(struct weir_slices *slices, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t end;

		weir_slices_move(slices, from);
		end = slices->keys < to - slices->first_key ? slices->first_key + slices->keys : to;
		slices->now->packets += end - from;
		from = end;
	}
}
