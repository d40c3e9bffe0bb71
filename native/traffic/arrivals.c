/* SPDX-License-Identifier: Apache-2.0 */
/* Loss, duplicates and reordering from sequence numbers. */
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "stream.h"

static inline uint64_t *
word_of(struct weir_arrivals *arrivals, uint64_t sequence)
{
	return &arrivals->window[sequence / 64 % WEIR_WINDOW_WORDS];
}

/* Clears the window's entries of sequence numbers `from` to `to`, both included. */
static void
forget(struct weir_arrivals *arrivals, uint64_t from, uint64_t to)
{
	if (to - from >= WEIR_WINDOW_PACKETS) {
		memset(arrivals->window, 0, sizeof(arrivals->window));
		return;
	}
	for (uint64_t sequence = from; sequence <= to;) {
		if (sequence % 64 == 0 && to - sequence >= 63) {
			*word_of(arrivals, sequence) = 0;
			sequence += 64;
		} else {
			*word_of(arrivals, sequence) &= ~(1ull << sequence % 64);
			sequence++;
		}
	}
}

/* Packets before this one are missing. A gap before the first arrival has no length. */
static void
note_gap(struct weir_arrivals *arrivals, uint64_t tx_tsc, uint64_t rx_tsc)
{
	uint64_t cycles = 0;

	/* Times of a network card's clock and of the counter, mixed, may be out of order. */
	if (arrivals->any && rx_tsc > arrivals->newest_rx_tsc)
		cycles = rx_tsc - arrivals->newest_rx_tsc;
	arrivals->gaps++;
	arrivals->after_gap_tsc = tx_tsc;
	if (cycles > arrivals->longest_gap_cycles)
		arrivals->longest_gap_cycles = cycles;
}

/* Counts it; whether this is a packet's first arrival, in time. `sequence` is not wrapped. */
static __rte_always_inline bool
is_first_arrival(struct weir_arrivals *arrivals, uint64_t sequence, uint64_t tx_tsc,
		 uint64_t rx_tsc)
{
	uint64_t bit = 1ull << sequence % 64;
	uint64_t *word = word_of(arrivals, sequence);

	if (!arrivals->any || sequence > arrivals->highest) {
		uint64_t next = arrivals->any ? arrivals->highest + 1 : 0;

		if (unlikely(sequence > next)) {
			weir_losses_add(&arrivals->losses, rx_tsc, sequence - next);
			note_gap(arrivals, tx_tsc, rx_tsc);
		}
		forget(arrivals, next, sequence);
		arrivals->highest = sequence;
		arrivals->newest_rx_tsc = rx_tsc;
		arrivals->any = true;
	} else if (arrivals->highest - sequence >= WEIR_WINDOW_PACKETS) {
		/* Whether it arrived before is no longer known: it stays lost and counts as too
		 * late. */
		arrivals->too_late++;
		return false;
	} else if (*word & bit) {
		arrivals->duplicates++;
		return false;
	} else {
		arrivals->reordered++; /* RFC 4737 type-P-reordered */
	}
	*word |= bit;
	weir_count(&arrivals->delivered, 1); /* weir_run_poll() looks at it */
	return true;
}

void
weir_arrivals_add(struct weir_arrivals *arrivals, uint32_t low_sequence, uint64_t tx_tsc,
		  uint64_t rx_tsc)
{
	uint64_t sequence = weir_arrivals_unwrap(arrivals, low_sequence);

	if (is_first_arrival(arrivals, sequence, tx_tsc, rx_tsc)) {
		weir_slices_add(&arrivals->slices, sequence, tx_tsc, rx_tsc);
		weir_delays_add(&arrivals->delays, sequence, tx_tsc, rx_tsc);
	}
}

void
weir_arrivals_add_untimed(struct weir_arrivals *arrivals, uint32_t low_sequence, uint64_t tx_tsc,
			  uint64_t now_tsc)
{
	uint64_t sequence = weir_arrivals_unwrap(arrivals, low_sequence);

	if (is_first_arrival(arrivals, sequence, tx_tsc, now_tsc))
		weir_slices_add(&arrivals->slices, sequence, tx_tsc, now_tsc);
}

void
weir_arrivals_clear(struct weir_arrivals *arrivals)
{
	memset(arrivals, 0, sizeof(*arrivals));
	weir_slices_begin(&arrivals->slices, 0, 0, 0);
	weir_delays_clear(&arrivals->delays);
}
