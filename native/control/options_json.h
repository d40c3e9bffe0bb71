/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a function or arguments of its command, from a JSON object. */
#ifndef WEIR_CONTROL_OPTIONS_JSON_H
#define WEIR_CONTROL_OPTIONS_JSON_H

#include <jansson.h>

#include "engine/error.h"
#include "engine/option.h"

#define WEIR_OPTION_VALUES_MAX 32

/* Values as texts; `value` points into the object and into `text`. */
struct weir_option_values {
	unsigned int count;
	struct weir_option_value value[WEIR_OPTION_VALUES_MAX];
	char text[WEIR_OPTION_VALUES_MAX][32];
};

/* `object` may be NULL: no values. `where` is its place. */
int weir_options_from_json(const json_t *object, const char *where,
			   struct weir_option_values *values, struct weir_error *error);

#endif
