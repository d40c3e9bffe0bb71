/* SPDX-License-Identifier: Apache-2.0 */
/* Where entries of an area's fast path may live below it: from JSON, and in the ledger. */
#ifndef WEIR_CONTROL_OFFLOAD_JSON_H
#define WEIR_CONTROL_OFFLOAD_JSON_H

#include <jansson.h>

#include "engine/chain.h"
#include "engine/error.h"

/* What `object`, at `where`, asks for, for each path of the chain, which is complete. NULL:
 * nothing.
 */
int weir_offload_from_json(const json_t *object, const char *where, struct weir_chain *chain,
			   struct weir_error *error);

/* Adds what went below to the path's counters in `path_json`, and `offload` with the split. */
void weir_offload_into_json(const struct weir_path *path, json_t *path_json);

#endif
