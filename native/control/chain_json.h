/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_CHAIN_JSON_H
#define WEIR_CONTROL_CHAIN_JSON_H

#include <stdbool.h>

#include <jansson.h>

#include "engine/area.h"
#include "engine/error.h"

/* The area of kind `chain`, or `owner`, that `object` describes; NULL with `error`, and nothing
 * left behind. */
struct weir_area *weir_chain_from_json(const json_t *object, bool owner, const char *name,
				       unsigned int core, const char *where,
				       struct weir_error *error);

#endif
