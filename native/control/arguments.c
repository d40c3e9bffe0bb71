/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "verb.h"

struct weir_place
weir_at(const char *where, const char *key)
{
	struct weir_place place;

	snprintf(place.text, sizeof(place.text), "%s%s%s", where, where[0] != '\0' ? "." : "", key);
	return place;
}

static int
wrong_type(const char *where, const char *key, const char *expected, struct weir_error *error)
{
	return weir_fail(error, "bad_argument", weir_at(where, key).text, expected, NULL,
			 "'%s' has the wrong type", key);
}

int
weir_missing(const char *where, const char *key, struct weir_error *error)
{
	return weir_fail(error, "bad_argument", weir_at(where, key).text, NULL, NULL,
			 "'%s' is missing", key);
}

int
weir_refuse_unknown(const json_t *args, const char *where, const char *const known[],
		    struct weir_error *error)
{
	const char *key;
	json_t *value;
	char expected[160];
	size_t used = 0;

	if (!json_is_object(args))
		return weir_fail(error, "bad_argument", where[0] != '\0' ? where : "args",
				 "an object", NULL, "not a JSON object");
	json_object_foreach((json_t *)args, key, value)
	{
		unsigned int i = 0;

		while (known[i] != NULL && strcmp(known[i], key) != 0)
			i++;
		if (known[i] != NULL)
			continue;
		expected[0] = '\0';
		for (i = 0; known[i] != NULL && used < sizeof(expected); i++)
			used += snprintf(expected + used, sizeof(expected) - used, "%s%s",
					 i == 0 ? "" : ", ", known[i]);
		return weir_fail(error, "bad_argument", weir_at(where, key).text, expected, NULL,
				 "unknown key '%s'", key);
	}
	return 0;
}

int
weir_take_string(const json_t *object, const char *key, bool required, const char *where,
		 const char **value, struct weir_error *error)
{
	const json_t *found = json_object_get(object, key);

	if (found == NULL || json_is_null(found)) {
		if (!required)
			return 0;
		return weir_missing(where, key, error);
	}
	if (!json_is_string(found))
		return wrong_type(where, key, "a string", error);
	*value = json_string_value(found);
	return 0;
}

int
weir_take_name(const json_t *object, const char *key, bool required, size_t bytes_max,
	       const char *where, const char **value, struct weir_error *error)
{
	char expected[32];

	if (weir_take_string(object, key, required, where, value, error) < 0)
		return -1;
	if (*value == NULL || (**value != '\0' && strlen(*value) <= bytes_max))
		return 0;
	snprintf(expected, sizeof(expected), "1 to %zu bytes", bytes_max);
	return weir_fail(error, "bad_argument", weir_at(where, key).text, expected, NULL,
			 "'%.40s' is no name: it has %zu bytes", *value, strlen(*value));
}

int
weir_take_count(const json_t *object, const char *key, uint64_t min, uint64_t max,
		const char *where, uint64_t *value, struct weir_error *error)
{
	const json_t *found = json_object_get(object, key);
	char expected[80];

	if (found == NULL || json_is_null(found))
		return 0;
	snprintf(expected, sizeof(expected), "a whole number from %lu to %lu", min, max);
	if (!json_is_integer(found))
		return wrong_type(where, key, expected, error);
	if (json_integer_value(found) < 0 || (uint64_t)json_integer_value(found) < min ||
	    (uint64_t)json_integer_value(found) > max)
		return weir_fail(error, "bad_argument", weir_at(where, key).text, expected, NULL,
				 "'%s' cannot be %lld", key, (long long)json_integer_value(found));
	*value = json_integer_value(found);
	return 0;
}

int
weir_take_bool(const json_t *object, const char *key, const char *where, bool *value,
	       struct weir_error *error)
{
	const json_t *found = json_object_get(object, key);

	if (found == NULL)
		return 0;
	if (!json_is_boolean(found))
		return wrong_type(where, key, "true or false", error);
	*value = json_is_true(found);
	return 0;
}

int
weir_take_array(const json_t *object, const char *key, const char *where, const json_t **value,
		struct weir_error *error)
{
	*value = json_object_get(object, key);
	if (*value != NULL && !json_is_array(*value))
		return wrong_type(where, key, "an array", error);
	return 0;
}
