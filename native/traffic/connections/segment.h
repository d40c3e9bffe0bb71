/* SPDX-License-Identifier: Apache-2.0 */
/* One packet of a connection: read from a frame, and written into one. Ethernet with up to one
 * VLAN tag, IPv4 (RFC 791) or IPv6 (RFC 8200) without fragments, TCP (RFC 9293) or UDP (RFC 768).
 */
#ifndef WEIR_TRAFFIC_CONNECTIONS_SEGMENT_H
#define WEIR_TRAFFIC_CONNECTIONS_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "packet/headers.h"
#include "prefixes.h"

/* Payloads are pieces of one pattern that repeats after a prime number of bytes, so that a piece
 * out of place does not look like the one that belongs there. */
#define WEIR_PATTERN_PERIOD 251
#define WEIR_PATTERN_AHEAD 2048 /* so much of it is at each place */
extern uint8_t weir_pattern[WEIR_PATTERN_PERIOD + WEIR_PATTERN_AHEAD];
void weir_pattern_make(void);

/* The payload at `offset` of a message with that salt, WEIR_PATTERN_AHEAD bytes of it. */
static inline const uint8_t *
weir_pattern_at(uint32_t offset, uint8_t salt)
{
	return &weir_pattern[(offset + salt) % WEIR_PATTERN_PERIOD];
}

/* Whether a received piece is the one that belongs there; it may be longer than any that is sent,
 * as what is on the way may join segments. */
static inline bool
weir_pattern_matches(const uint8_t *piece, uint32_t bytes, uint32_t offset, uint8_t salt)
{
	while (bytes > WEIR_PATTERN_AHEAD) {
		if (memcmp(piece, weir_pattern_at(offset, salt), WEIR_PATTERN_AHEAD) != 0)
			return false;
		piece += WEIR_PATTERN_AHEAD;
		offset += WEIR_PATTERN_AHEAD;
		bytes -= WEIR_PATTERN_AHEAD;
	}
	return memcmp(piece, weir_pattern_at(offset, salt), bytes) == 0;
}

struct weir_segment {
	struct weir_tuple tuple; /* network order; of IPv6 addresses their last 32 bits */
	uint8_t flags;		 /* TCP's */
	uint16_t payload_bytes;
	uint32_t sequence, acknowledged; /* TCP; host order */
	const uint8_t *payload;		 /* read: in the frame */
	const uint8_t
		*addresses; /* read: IPv6's, source and destination in the frame; NULL: IPv4 */
};

enum weir_segment_read { WEIR_SEGMENT_READ, WEIR_SEGMENT_NOT_OURS, WEIR_SEGMENT_BAD_CHECKSUM };
/* The tuple's zero[0] stays 0. */
enum weir_segment_read weir_segment_read(const struct rte_mbuf *packet,
					 struct weir_segment *segment);

/* But for the type, which is of the packet. */
struct weir_link_header {
	uint8_t bytes[RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN];
	uint16_t length;
};
struct weir_link_header weir_link_header(const struct rte_ether_addr *src_mac,
					 const struct rte_ether_addr *dst_mac, uint16_t vlan);

/* The payload is `head`, which may be NULL, then the pattern from `payload` on. `prefixes`: of
 * IPv6; NULL: IPv4. `mss`: TCP's option; 0: without. Into a packet that is empty. */
void weir_segment_write(struct rte_mbuf *packet, const struct weir_link_header *link,
			const struct weir_segment *segment, const struct weir_prefix_pair *prefixes,
			const uint8_t *head, uint16_t head_bytes, uint16_t mss);

#endif
