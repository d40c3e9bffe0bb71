/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index from 16-byte keys to numbers below its capacity, for one thread: buckets of one cache
 * line with eight 16-bit signatures each, as [Lean], section III.C.1, describes, looked up 32 at
 * a time so that the memory's latencies overlap. Keys stay with the caller: a look-up reads them
 * through `keys`.
 */
#ifndef WEIR_PACKET_FLOW_TABLE_H
#define WEIR_PACKET_FLOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_FLOW_KEY_BYTES 16
#define WEIR_FLOW_NONE UINT32_MAX
#define WEIR_FLOW_BULK 32

struct weir_flow_table;

/*
 * A table for numbers 0 … capacity - 1. The key of number n is at `keys` + n × `stride`: written by
 * the caller before it puts n in, and left alone until it has taken n out. NULL: no memory.
 */
struct weir_flow_table *weir_flow_table_create(uint32_t capacity, const void *keys, size_t stride);
void weir_flow_table_free(struct weir_flow_table *table);

/* The number under each key, or WEIR_FLOW_NONE; `count` at most WEIR_FLOW_BULK. */
void weir_flow_table_find(const struct weir_flow_table *table, const void *const keys[],
			  uint32_t numbers[], unsigned int count);

/* Puts `number` in, whose key must not be there. Numbers below the capacity always find room. */
bool weir_flow_table_put(struct weir_flow_table *table, uint32_t number);
/* Takes `number` out; its key must still be the one it was put in with. */
void weir_flow_table_take(struct weir_flow_table *table, uint32_t number);

#endif
