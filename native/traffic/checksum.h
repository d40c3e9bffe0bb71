/* SPDX-License-Identifier: Apache-2.0 */
/* Ones' complement sums (RFC 1071) over 16-bit words in memory order. */
#ifndef WEIR_TRAFFIC_CHECKSUM_H
#define WEIR_TRAFFIC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Folds any 64-bit sum of 16-bit words, or a 64-bit value taken as four words, to 16 bits. */
static inline uint16_t
weir_sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The sum of `length` bytes; an odd last byte is padded with zero. */
static inline uint64_t
weir_sum(const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0;
	uint16_t word;

	for (; length >= 2; at += 2, length -= 2) {
		memcpy(&word, at, 2);
		sum += word;
	}
	if (length == 1)
		sum += *at; /* little endian: the low byte comes first in memory */
	return sum;
}

#endif
