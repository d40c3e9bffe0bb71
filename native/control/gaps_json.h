/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of the polling loops, as JSON. */
#ifndef WEIR_CONTROL_GAPS_JSON_H
#define WEIR_CONTROL_GAPS_JSON_H

#include <stdint.h>

#include <jansson.h>

#include "engine/loop.h"

/* Sets `seen` to the present of each core: weir_gaps_since() then returns later gaps only. */
void weir_gaps_mark(uint64_t seen[WEIR_CORES_MAX]);
/* Appends the gaps of all cores since `seen`, and sets it to the present; returns how many are
 * missing, since no more than WEIR_GAPS_KEPT a core are kept. */
uint64_t weir_gaps_since(uint64_t seen[WEIR_CORES_MAX], json_t *list);

/* The same since the last call, or since weir_gaps_begin(), for `traffic.interval`. */
void weir_gaps_begin(void);
uint64_t weir_gaps_of_interval(json_t *list);

#endif
