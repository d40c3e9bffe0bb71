/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded random numbers: the same seed gives the same traffic. */
#ifndef WEIR_TRAFFIC_RANDOM_H
#define WEIR_TRAFFIC_RANDOM_H

#include <stdint.h>

#include "packet/mix.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t
weir_random_next(uint64_t *state)
{
	return weir_mix(*state += 0x9e3779b97f4a7c15ull);
}

/* Evenly spread over [0, 1). */
static inline double
weir_random_unit(uint64_t *state)
{
	return (double)(weir_random_next(state) >> 11) * 0x1p-53;
}

#endif
