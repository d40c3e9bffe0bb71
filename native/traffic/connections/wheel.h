/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One timer a connection, in a hashed wheel (Varghese and Lauck, "Hashed and hierarchical timing
 * wheels", 1987, scheme 6): a list for each tick of somewhat less than a millisecond; what is due
 * after more ticks than there are lists is passed over until its round. Links are numbers, in the
 * connections themselves.
 */
#ifndef WEIR_TRAFFIC_CONNECTIONS_WHEEL_H
#define WEIR_TRAFFIC_CONNECTIONS_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_WHEEL_TICKS 65536u /* a power of two: 55 s at 2.5 GHz */
#define WEIR_WHEEL_NONE UINT32_MAX
#define WEIR_WHEEL_HEAD (1u << 31) /* of `previous`: a list's, not a connection's number */

struct weir_link {
	uint32_t next, previous; /* while it is armed; else `next` is the owner's */
	uint32_t due;		 /* tick; 0: not armed */
};

struct weir_wheel {
	uint8_t *links; /* of number 0 */
	size_t stride;
	unsigned int tick_shift; /* cycles >> it */
	uint64_t start_tsc;
	uint32_t tick; /* all before it have expired */
	uint32_t heads[WEIR_WHEEL_TICKS];
};

static inline struct weir_link *
weir_wheel_link(const struct weir_wheel *wheel, uint32_t number)
{
	return (struct weir_link *)(void *)(wheel->links + number * wheel->stride);
}

/* Empty; the links of all numbers are to be zero. */
static inline void
weir_wheel_begin(struct weir_wheel *wheel, void *links, size_t stride, uint64_t tsc_hz,
		 uint64_t now_tsc)
{
	wheel->links = links;
	wheel->stride = stride;
	wheel->tick_shift = 63 - (unsigned int)__builtin_clzll(tsc_hz / 1000);
	wheel->start_tsc = now_tsc;
	wheel->tick = 1;
	for (uint32_t i = 0; i < WEIR_WHEEL_TICKS; i++)
		wheel->heads[i] = WEIR_WHEEL_NONE;
}

static inline uint32_t
weir_wheel_tick(const struct weir_wheel *wheel, uint64_t tsc)
{
	return (uint32_t)((tsc - wheel->start_tsc) >> wheel->tick_shift) + 1;
}

static inline void
weir_wheel_disarm(struct weir_wheel *wheel, uint32_t number)
{
	struct weir_link *link = weir_wheel_link(wheel, number);

	if (link->due == 0)
		return;
	if ((link->previous & WEIR_WHEEL_HEAD) != 0)
		wheel->heads[link->previous & ~WEIR_WHEEL_HEAD] = link->next;
	else
		weir_wheel_link(wheel, link->previous)->next = link->next;
	if (link->next != WEIR_WHEEL_NONE)
		weir_wheel_link(wheel, link->next)->previous = link->previous;
	link->due = 0;
}

/* At that time or up to one tick later, in place of what it was armed for. */
static inline void
weir_wheel_arm(struct weir_wheel *wheel, uint32_t number, uint64_t at_tsc)
{
	struct weir_link *link = weir_wheel_link(wheel, number);
	uint32_t due = weir_wheel_tick(wheel, at_tsc) + 1, slot;

	if (due <= wheel->tick)
		due = wheel->tick + 1;
	if (link->due == due)
		return;
	weir_wheel_disarm(wheel, number);
	slot = due & (WEIR_WHEEL_TICKS - 1);
	link->due = due;
	link->next = wheel->heads[slot];
	link->previous = slot | WEIR_WHEEL_HEAD;
	if (link->next != WEIR_WHEEL_NONE)
		weir_wheel_link(wheel, link->next)->previous = number;
	wheel->heads[slot] = number;
}

/* Disarms up to `most` that are due by now and gives their numbers; the rest the next time. */
static inline unsigned int
weir_wheel_expire(struct weir_wheel *wheel, uint64_t now_tsc, uint32_t *numbers, unsigned int most)
{
	uint32_t now = weir_wheel_tick(wheel, now_tsc);
	unsigned int count = 0;

	for (; (int32_t)(now - wheel->tick) > 0; wheel->tick++) {
		uint32_t number = wheel->heads[wheel->tick & (WEIR_WHEEL_TICKS - 1)];

		while (number != WEIR_WHEEL_NONE) {
			uint32_t next = weir_wheel_link(wheel, number)->next;

			if (weir_wheel_link(wheel, number)->due == wheel->tick) {
				if (count == most)
					return count;
				weir_wheel_disarm(wheel, number);
				numbers[count++] = number;
			}
			number = next;
		}
	}
	return count;
}

#endif
