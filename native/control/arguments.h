/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the arguments of a request: typed, bounded. 0 ok, -1 with `error` filled. `where` is the
 * place of `object` in the request, such as "streams[0].template", "" for the arguments themselves;
 * errors name the field behind it.
 */
#ifndef WEIR_CONTROL_ARGUMENTS_H
#define WEIR_CONTROL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "engine/error.h"

#define WEIR_NAME_BYTES_MAX 63 /* of areas and their paths */

/* A place in a request; longer ones than any that is accepted are cut. */
struct weir_place {
	char text[96];
};

/* "where.key", or just "key" in the arguments themselves. */
struct weir_place weir_at(const char *where, const char *key);

/* Fails: `key` must be there. */
int weir_missing(const char *where, const char *key, struct weir_error *error);

/* A string; absent leaves `*value` as it is, unless `required`. The string lives as long as
 * `object`. */
int weir_take_string(const json_t *object, const char *key, bool required, const char *where,
		     const char **value, struct weir_error *error);
/* A string that names something: 1 to `bytes_max` bytes, as it would be cut elsewhere. */
int weir_take_name(const json_t *object, const char *key, bool required, size_t bytes_max,
		   const char *where, const char **value, struct weir_error *error);
/* A whole number within [min, max]; absent leaves `*value`. */
int weir_take_count(const json_t *object, const char *key, uint64_t min, uint64_t max,
		    const char *where, uint64_t *value, struct weir_error *error);
int weir_take_bool(const json_t *object, const char *key, const char *where, bool *value,
		   struct weir_error *error);
/* An array; absent gives NULL, which json_array_size() takes as empty. */
int weir_take_array(const json_t *object, const char *key, const char *where, const json_t **value,
		    struct weir_error *error);

#endif
