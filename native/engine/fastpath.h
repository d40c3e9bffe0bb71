/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consistent policy execution path ([Lean], section III.B.3): a flow's first packet takes
 * the slow path through all stages; what was decided on it is composed into one entry, and the
 * flow's later packets pay one look-up and one rewrite, whatever the chain's length. TCP and UDP
 * over IPv4; fragments, packets with SYN, FIN or RST, and whatever a function decides `once` always
 * take the slow path.
 */
#ifndef WEIR_ENGINE_FASTPATH_H
#define WEIR_ENGINE_FASTPATH_H

#include "flow_cache.h"
#include "stage.h"

/*
 * What running all stages on the batch would do, in the same order, packet by packet: rewrites,
 * drops (counted in the stages that decided them), counters, egress.
 */
void weir_fastpath_run(struct weir_fastpath *fastpath, struct weir_stage *stages,
		       unsigned int stage_count, struct weir_batch *batch, bool ledger);

#endif
