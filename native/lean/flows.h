/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames begin a flow: of them, functions that keep sessions have more to do. */
#ifndef WEIR_LEAN_FLOWS_H
#define WEIR_LEAN_FLOWS_H

#include "frames.h"

struct rte_mempool;

/* Numbers of the first frame of each five-tuple, in their order, to be freed; frames without one
 * count as one flow. NULL: no memory. */
uint32_t *weir_flows_first(const struct weir_frames *frames, struct rte_mempool *pool,
			   uint32_t *count);

#endif
