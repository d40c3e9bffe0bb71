/* SPDX-License-Identifier: Apache-2.0 */
/* The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014): every bit of the argument moves every bit of the result. */
#ifndef WEIR_PACKET_MIX_H
#define WEIR_PACKET_MIX_H

#include <stdint.h>

static inline uint64_t
weir_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

#endif
