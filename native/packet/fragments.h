/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided on the first fragment of an IPv4 or IPv6 datagram, for the later ones, which
 * have no ports; and later ones that came before their first one, until that comes (RFC 4787,
 * REQ-14). Both are bounded, and nothing is reassembled: a later fragment is not known after its
 * datagram's place was taken by a newer one.
 */
#ifndef WEIR_PACKET_FRAGMENTS_H
#define WEIR_PACKET_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "headers.h"

/* How long fragments of one datagram may lie apart: the least that RFC 1122, section 3.3.2, gives
 * for reassembly, and what RFC 8200, section 4.5, does. */
#define WEIR_FRAGMENTS_TIMEOUT_S 60

struct weir_fragments;

/* Room for `datagrams` (1 or more) at once, rounded up to a power of two, and for `waiting_packets`
 * (0 or more) that wait for `wait_ms` at most. NULL: no memory. */
struct weir_fragments *weir_fragments_create(uint32_t datagrams, uint32_t waiting_packets,
					     uint64_t wait_ms);
/* With the packets that wait. */
void weir_fragments_free(struct weir_fragments *fragments);

/* For all later fragments of this datagram, those that wait for it too: `decision` is the caller's.
 */
void weir_fragments_remember(struct weir_fragments *fragments, const struct rte_mbuf *packet,
			     const struct weir_headers *headers, uint64_t now_tsc,
			     uint64_t decision);
/* What was remembered of the datagram of this fragment; false: nothing, or too long ago. */
bool weir_fragments_recall(const struct weir_fragments *fragments, const struct rte_mbuf *packet,
			   const struct weir_headers *headers, uint64_t now_tsc,
			   uint64_t *decision);

/* A packet that waits, and what its stage knows of it. */
struct weir_fragment {
	struct rte_mbuf *packet;
	uint8_t direction;
	uint8_t egress;
};

/* Keeps a later fragment that is not known until its first one is. False: there is no room. */
bool weir_fragments_wait(struct weir_fragments *fragments, const struct weir_fragment *fragment,
			 const struct weir_headers *headers, uint64_t now_tsc);
/* Takes out the next packet of that direction that waits no longer, in the order in which they
 * came: its first one is known now, or `*late`. False: there is none. */
bool weir_fragments_next(struct weir_fragments *fragments, uint8_t direction, uint64_t now_tsc,
			 struct weir_fragment *fragment, bool *late);

#endif
