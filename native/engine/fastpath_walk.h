/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of the fast path whose flow is not known: which those are, and what is learnt of
 * them. */
#ifndef WEIR_ENGINE_FASTPATH_WALK_H
#define WEIR_ENGINE_FASTPATH_WALK_H

#include <netinet/in.h>

#include <rte_tcp.h>

#include "fastpath.h"

#define TCP_FLAGS_OF_STATE (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG)
#define FLAGS_THAT_WALK                                                                            \
	(WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT | WEIR_HEADER_L4_CUT |                  \
	 WEIR_HEADER_OPTIONS | WEIR_HEADER_GROUP | WEIR_HEADER_BAD_CHECKSUM)

/* Whether the tuple alone says what flow the packet belongs to, and its flags change no state. */
static inline bool
weir_flow_may_be_known(const struct weir_headers *headers)
{
	if (headers->network != WEIR_NETWORK_IPV4 || headers->l4_offset == 0 ||
	    (headers->flags & FLAGS_THAT_WALK) != 0)
		return false;
	return headers->tuple.protocol == IPPROTO_UDP ||
	       (headers->tuple.protocol == IPPROTO_TCP &&
		(headers->tcp_flags & TCP_FLAGS_OF_STATE) == 0);
}

static inline struct weir_tuple
weir_flow_key(const struct weir_fastpath *fastpath, const struct weir_headers *headers)
{
	struct weir_tuple key = headers->tuple;

	key.zero[0] = fastpath->path + 1;
	memcpy(&key.zero[1], &headers->vlan, sizeof(headers->vlan));
	return key;
}

/* Lets packets [first, end) of the batch walk the stages and remembers what was decided; those
 * dropped become NULL. */
void weir_fastpath_walk(struct weir_fastpath *fastpath, struct weir_stage *stages,
			unsigned int stage_count, struct weir_batch *batch, uint16_t first,
			uint16_t end, bool ledger);

#endif
