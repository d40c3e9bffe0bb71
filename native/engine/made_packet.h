/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that functions make themselves: answers, solicitations, end markers. They are never of
 * the pool of what they answer where there is one for them: that may be a sender's, whose buffers
 * keep the payload that they were set up with.
 */
#ifndef WEIR_ENGINE_MADE_PACKET_H
#define WEIR_ENGINE_MADE_PACKET_H

#include <rte_mbuf.h>

/* The pool for them from here on; NULL: none. While no loop runs. */
void weir_made_packets_from(struct rte_mempool *pool);

/* One without data. `otherwise`: its pool where there is none for them; may be NULL. NULL: it
 * cannot be had. */
struct rte_mbuf *weir_made_packet(struct rte_mempool *otherwise);

#endif
