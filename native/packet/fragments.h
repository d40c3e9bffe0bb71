/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided on the first fragment of an IPv4 datagram, for the later ones, which have no
 * ports. A bounded memory without reassembly: a later fragment that comes before the first, or
 * after its place was taken by a newer datagram, is not known.
 */
#ifndef WEIR_PACKET_FRAGMENTS_H
#define WEIR_PACKET_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "headers.h"

/* How long fragments of one datagram may lie apart: the least that RFC 1122, section 3.3.2, gives
 * for reassembly. */
#define WEIR_FRAGMENTS_TIMEOUT_S 60

struct weir_fragments;

/* Room for `datagrams` (1 or more) at once, rounded up to a power of two. NULL: no memory. */
struct weir_fragments *weir_fragments_create(uint32_t datagrams);
void weir_fragments_free(struct weir_fragments *fragments);

/* For all later fragments of this datagram: `decision` is the caller's. */
void weir_fragments_remember(struct weir_fragments *fragments, const struct rte_mbuf *packet,
			     const struct weir_headers *headers, uint64_t now_tsc,
			     uint32_t decision);
/* What was remembered of the datagram of this fragment; false: nothing, or too long ago. */
bool weir_fragments_recall(const struct weir_fragments *fragments, const struct rte_mbuf *packet,
			   const struct weir_headers *headers, uint64_t now_tsc,
			   uint32_t *decision);

#endif
