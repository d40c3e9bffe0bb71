/* SPDX-License-Identifier: Apache-2.0 */
/* The Internet checksum (RFC 1071) and what a change of the data makes of it (RFC 1624). */
#ifndef WEIR_PACKET_CHECKSUM_H
#define WEIR_PACKET_CHECKSUM_H

#include <stdint.h>

/* Sum of 16-bit words in one's complement arithmetic (RFC 1071), to be folded. */
static inline uint16_t
weir_checksum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* RFC 1624, equation 3: what must be added to ~checksum when a 16-bit word changes. */
static inline uint32_t
weir_checksum_change16(uint16_t before, uint16_t after)
{
	return (uint32_t)(uint16_t)~before + after;
}

static inline uint32_t
weir_checksum_change32(uint32_t before, uint32_t after)
{
	return weir_checksum_change16((uint16_t)before, (uint16_t)after) +
	       weir_checksum_change16((uint16_t)(before >> 16), (uint16_t)(after >> 16));
}

/* The checksum after a change: HC' = ~(~HC + change). */
static inline uint16_t
weir_checksum_changed(uint16_t checksum, uint32_t change)
{
	return (uint16_t)~weir_checksum_fold((uint32_t)(uint16_t)~checksum + (change & 0xffff) +
					     (change >> 16));
}

#endif
