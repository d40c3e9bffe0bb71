/* SPDX-License-Identifier: Apache-2.0 */
/* Memory to wander over: each cell says where the next one is, so that each load waits for the one
 * before. */
#ifndef WEIR_LEAN_CELLS_H
#define WEIR_LEAN_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Links `count` cells, `stride` bytes apart, into one random circle (Sattolo's shuffle), so that no
 * prefetcher guesses the next one. False: no memory for the order.
 */
bool weir_cells_link(uint8_t *memory, size_t count, size_t stride);

/* Follows `loads` links; the result keeps the compiler from leaving them out. */
void *weir_cells_follow(void *at, uint64_t loads);

#endif
