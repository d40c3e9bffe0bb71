/* SPDX-License-Identifier: Apache-2.0 */
/* The slow path: packets whose flow the fast path's cache does not have, or whose decision cannot
 * be remembered, go through the stages; what these decide is put into the cache. */
#ifndef WEIR_ENGINE_SLOW_PATH_H
#define WEIR_ENGINE_SLOW_PATH_H

#include <netinet/in.h>

#include "flow_cache.h"
#include "stage.h"

#define WEIR_SLOW_PATH_FLAGS                                                                       \
	(WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT | WEIR_HEADER_L4_CUT |                  \
	 WEIR_HEADER_OPTIONS | WEIR_HEADER_GROUP | WEIR_HEADER_BAD_CHECKSUM)

/* Whether the tuple alone says what flow the packet belongs to, and its flags change no state. */
static inline bool
weir_flow_may_be_known(const struct weir_headers *headers)
{
	if (headers->network != WEIR_NETWORK_IPV4 || headers->l4_offset == 0 ||
	    (headers->flags & WEIR_SLOW_PATH_FLAGS) != 0)
		return false;
	return headers->tuple.protocol == IPPROTO_UDP ||
	       (headers->tuple.protocol == IPPROTO_TCP &&
		(headers->tcp_flags & WEIR_TCP_EVENTS) == 0);
}

static inline struct weir_tuple
weir_flow_key(const struct weir_fastpath *fastpath, const struct weir_headers *headers)
{
	struct weir_tuple key = headers->tuple;

	key.zero[0] = fastpath->path + 1;
	memcpy(&key.zero[1], &headers->vlan, sizeof(headers->vlan));
	return key;
}

/* Runs packets [first, end) of the batch through the stages and remembers what was decided; those
 * dropped become NULL. */
void weir_slow_path_run(struct weir_fastpath *fastpath, struct weir_stage *stages,
			unsigned int stage_count, struct weir_batch *batch, uint16_t first,
			uint16_t end, bool ledger);

#endif
