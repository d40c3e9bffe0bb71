/* SPDX-License-Identifier: Apache-2.0 */
/* Areas from JSON, by their kinds. */
#ifndef WEIR_CONTROL_AREAS_H
#define WEIR_CONTROL_AREAS_H

#include "fields.h"

/* What areas of all kinds have; a kind's own struct of fields begins with it. */
struct weir_area_head {
	const char *name, *kind;
	uint32_t core;
};

#define WEIR_AREA_FIELDS                                                                           \
	{"name", WEIR_FIELD_NAME, true, .max = WEIR_NAME_BYTES_MAX,                                \
	 WEIR_INTO(struct weir_area_head, name)},                                                  \
		{"core", WEIR_FIELD_COUNT, true, .max = 4095,                                      \
		 WEIR_INTO(struct weir_area_head, core)},                                          \
	{                                                                                          \
		"kind", WEIR_FIELD_STRING, true, WEIR_INTO(struct weir_area_head, kind)            \
	}

/* Both are a weir_read_fn without a target: the first makes the area that `object` describes and
 * places it; the second joins it with those that it names, once all areas are there. */
int weir_area_from_json(const json_t *object, const char *where, void *unused,
			struct weir_error *error);
int weir_area_connect(const json_t *object, const char *where, void *unused,
		      struct weir_error *error);

#endif
