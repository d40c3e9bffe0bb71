/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp: 18 bytes at the start of the payload of every packet that Weir sends, little endian,
 * packed.
 *
 * `check` makes the ones' complement sum of the nine words a constant. So the UDP or TCP checksum
 * does not depend on what the stamp says and is computed once for a flow; and a receiver
 * distinguishes a stamp from other bytes.
 */
#ifndef WEIR_TRAFFIC_STAMP_H
#define WEIR_TRAFFIC_STAMP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "checksum.h"

#define WEIR_STAMP_SUM 0x5745 /* not 0 and not 0xffff: bytes that are all alike are no stamp */

struct weir_stamp {
	uint16_t check;
	uint16_t epoch; /* number of the run */
	uint16_t stream;
	uint32_t sequence; /* from 0, wraps */
	/* Time-stamp counter, read once a burst just before it is handed over; with Poisson gaps,
	 * when the packet was due. */
	uint64_t tx_tsc;
} __attribute__((packed));
static_assert(sizeof(struct weir_stamp) == 18, "nine words");

static inline uint16_t
weir_stamp_check(const struct weir_stamp *stamp)
{
	uint64_t sum = weir_sum_fold(stamp->tx_tsc);

	sum += (uint64_t)stamp->epoch + stamp->stream + (stamp->sequence & 0xffff) +
	       (stamp->sequence >> 16);
	/* WEIR_STAMP_SUM - sum in ones' complement */
	return weir_sum_fold(WEIR_STAMP_SUM + (uint16_t)~weir_sum_fold(sum));
}

static inline bool
weir_stamp_valid(const struct weir_stamp *stamp)
{
	return stamp->check == weir_stamp_check(stamp);
}

#endif
