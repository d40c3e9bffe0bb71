/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maglev's consistent hashing (Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load
 * Balancer", NSDI 2016, section 3.4): every back-end has nearly the same share of a table, and a
 * change of the set moves few of the other entries.
 */
#ifndef WEIR_NF_LB_MAGLEV_H
#define WEIR_NF_LB_MAGLEV_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/mix.h"

#define MAGLEV_OFFSET_SEED 0x9e3779b97f4a7c15
#define MAGLEV_SKIP_SEED 0xc2b2ae3d27d4eb4f

/* A back-end as its permutation sees it: its name, and the number that the table has for it. */
struct maglev_entry {
	uint64_t name;
	uint16_t number;
};

/*
 * Fills `table` of `size` (prime) places with the numbers of the entries, of which there is one at
 * least and which must be in the order of their names: the table then depends on the set alone.
 * False: no memory.
 */
bool maglev_fill(uint16_t *table, uint32_t size, const struct maglev_entry *entries,
		 unsigned int count);

bool maglev_is_prime(uint64_t number);

#endif
