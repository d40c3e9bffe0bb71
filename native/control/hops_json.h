/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_HOPS_JSON_H
#define WEIR_CONTROL_HOPS_JSON_H

#include <jansson.h>

#include "engine/error.h"
#include "engine/hops.h"
#include "dataplane.h"

/* The dispatcher, applier or collector that `object` describes; NULL with `error`. */
struct weir_area *weir_hops_from_json(const json_t *object, enum weir_area_kind kind,
				      const char *name, unsigned int core, const char *where,
				      struct weir_error *error);

/* Once all areas are there: whom the dispatcher of `object` asks which flows must meet. */
int weir_dispatcher_connect(const json_t *object, struct weir_hops *dispatcher, const char *where,
			    struct weir_error *error);

#endif
