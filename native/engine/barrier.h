/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_ENGINE_BARRIER_H
#define WEIR_ENGINE_BARRIER_H

/*
 * Returns when every thread of this process has passed a full memory barrier: what it had stored is
 * to be seen, and what it loads from now on is no older than this call. So polling loops, which
 * would pay for a barrier in every pass, need none (membarrier(2)). Control thread only.
 */
void weir_barrier_in_all_threads(void);

#endif
