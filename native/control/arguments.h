/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the arguments of a request: typed, bounded, with errors that say where. 0 ok, -1 with
 * `error` filled. */
#ifndef WEIR_CONTROL_ARGUMENTS_H
#define WEIR_CONTROL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "core/error.h"

/* A string; absent leaves `*value` as it is, unless `required`. The string lives as long as
 * `object`. */
int weir_take_string(const json_t *object, const char *key, bool required, const char *where,
		     const char **value, struct weir_error *error);
/* A whole number within [min, max]; absent leaves `*value`. */
int weir_take_count(const json_t *object, const char *key, uint64_t min, uint64_t max,
		    const char *where, uint64_t *value, struct weir_error *error);
int weir_take_bool(const json_t *object, const char *key, const char *where, bool *value,
		   struct weir_error *error);
/* An array; absent gives NULL, which json_array_size() takes as empty. */
int weir_take_array(const json_t *object, const char *key, const char *where, const json_t **value,
		    struct weir_error *error);

#endif
