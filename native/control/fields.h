/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the control protocol: one table says an object's keys, their types, ranges and
 * defaults, and where each value goes; one reader checks an object by it. Functions return 0, or -1
 * with `error` filled. `where` is the place of a value in the request, such as
 * "streams[0].template", "" for the arguments themselves.
 */
#ifndef WEIR_CONTROL_FIELDS_H
#define WEIR_CONTROL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "engine/error.h"

#define WEIR_NAME_BYTES_MAX 63 /* of areas and their paths */

/* Reads `value`, which is at `where`, into `target`. */
typedef int (*weir_read_fn)(const json_t *value, const char *where, void *target,
			    struct weir_error *error);

/* Strings and JSON values live as long as the object that was read. */
enum weir_field_type {
	WEIR_FIELD_STRING, /* const char *; NULL: absent */
	WEIR_FIELD_NAME,   /* the same, of 1 to `max` bytes */
	WEIR_FIELD_COUNT,  /* an unsigned integer within [min, max] */
	WEIR_FIELD_BOOL,   /* bool */
	WEIR_FIELD_CHOICE, /* an unsigned integer, an enum or a bool: the index in `choices` */
	WEIR_FIELD_LIST,   /* const json_t *: an array of `min` to `max` elements; max 0: of any */
	WEIR_FIELD_OBJECT, /* an object with `fields`, whose offsets are in the same target */
	WEIR_FIELD_JSON,   /* const json_t *, unchecked; NULL: absent */
	WEIR_FIELD_READ,   /* what `read` makes of it; unchanged where it is absent */
};

/* A table ends with a row without a key. */
struct weir_field {
	const char *key;
	enum weir_field_type type;
	bool required;
	uint64_t min, max;
	uint64_t default_value; /* COUNT, BOOL, CHOICE: where the key is absent */
	const char *const *choices;
	const struct weir_field *fields;
	weir_read_fn read;
	size_t offset, bytes; /* of the member of the target: WEIR_INTO */
};

#define WEIR_INTO(type, member)                                                                    \
	.offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member)

/* Reads `object` into `target`; refuses keys that `fields` does not have, and values that it does
 * not allow. A value of null is absent. */
int weir_read(const json_t *object, const char *where, const struct weir_field *fields,
	      void *target, struct weir_error *error);
/* The same, but keys that `fields` does not have are left for another table. */
int weir_read_known(const json_t *object, const char *where, const struct weir_field *fields,
		    void *target, struct weir_error *error);
/* Calls `read` for each element of `list`, which may be NULL: none. */
int weir_read_each(const json_t *list, const char *where, weir_read_fn read, void *target,
		   struct weir_error *error);

/* A place in a request; longer ones than any that is accepted are cut. */
struct weir_place {
	char text[96];
};

/* "where.key", or just "key" in the arguments themselves. */
struct weir_place weir_at(const char *where, const char *key);

#endif
