/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED_BYTES 160
#define KEY_BYTES_MAX 31 /* of a key for which a similar one is looked for */

struct weir_place
weir_at(const char *where, const char *key)
{
	struct weir_place place;

	snprintf(place.text, sizeof(place.text), "%s%s%s", where, where[0] != '\0' ? "." : "", key);
	return place;
}

static int
missing(const char *where, const char *key, struct weir_error *error)
{
	return weir_fail(error, "bad_argument", weir_at(where, key).text, NULL, NULL,
			 "'%s' is missing", key);
}

/* Letters to insert, remove or replace until `left` is `right` (Levenshtein). */
static unsigned int
edits(const char *left, const char *right)
{
	unsigned int row[KEY_BYTES_MAX + 1];
	size_t length = strlen(right);

	if (strlen(left) > KEY_BYTES_MAX || length > KEY_BYTES_MAX)
		return UINT32_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; left[i] != '\0'; i++) {
		unsigned int diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= length; j++) {
			unsigned int replaced = diagonal + (left[i] != right[j - 1]);
			unsigned int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

static int
unknown_key(const char *key, const char *where, const struct weir_field *fields,
	    struct weir_error *error)
{
	char expected[EXPECTED_BYTES] = "", fix[64] = "";
	/* As many edits make another word. */
	unsigned int fewest = strlen(key) < 4 ? strlen(key) / 2 + 1 : 3;
	bool number = key[0] >= '0' && key[0] <= '9';
	size_t used = 0;

	for (const struct weir_field *field = fields; field->key != NULL; field++) {
		unsigned int needed = edits(key, field->key);

		if (used < sizeof(expected))
			used += snprintf(expected + used, sizeof(expected) - used, "%s%s",
					 used == 0 ? "" : ", ", field->key);
		if (!number && needed < fewest) {
			fewest = needed;
			snprintf(fix, sizeof(fix), "did you mean '%s'?", field->key);
		}
	}
	return weir_fail(error, "bad_argument", weir_at(where, key).text, expected, fix,
			 "unknown key '%s'", key);
}

/* As what jansson gives a value of that type (a false as JSON_TRUE, too), and what users call it;
 * ANY: the value is checked elsewhere. */
#define ANY (-1)
static const struct {
	int json;
	const char *name;
} types[] = {
	[WEIR_FIELD_STRING] = {JSON_STRING, "a string"},
	[WEIR_FIELD_NAME] = {JSON_STRING, "a string"},
	[WEIR_FIELD_COUNT] = {JSON_INTEGER},
	[WEIR_FIELD_BOOL] = {JSON_TRUE, "true or false"},
	[WEIR_FIELD_CHOICE] = {JSON_STRING},
	[WEIR_FIELD_LIST] = {JSON_ARRAY, "an array"},
	[WEIR_FIELD_OBJECT] = {JSON_OBJECT, "an object"},
	[WEIR_FIELD_JSON] = {ANY},
	[WEIR_FIELD_READ] = {ANY},
};

static bool
has_type(const struct weir_field *field, const json_t *value)
{
	int json = json_is_false(value) ? JSON_TRUE : json_typeof(value);

	return types[field->type].json == ANY || types[field->type].json == json;
}

/* What may be written for the field. */
static void
describe(const struct weir_field *field, char *text)
{
	size_t used = 0;

	if (field->type == WEIR_FIELD_COUNT)
		snprintf(text, EXPECTED_BYTES, "a whole number from %lu to %lu", field->min,
			 field->max);
	else if (field->type != WEIR_FIELD_CHOICE)
		snprintf(text, EXPECTED_BYTES, "%s", types[field->type].name);
	else
		for (unsigned int i = 0; field->choices[i] != NULL && used < EXPECTED_BYTES; i++) {
			const char *before = field->choices[i + 1] == NULL ? " or " : ", ";

			used += snprintf(text + used, EXPECTED_BYTES - used, "%s%s",
					 i == 0 ? "" : before, field->choices[i]);
		}
}

static int
wrong_type(const struct weir_field *field, const char *where, struct weir_error *error)
{
	char expected[EXPECTED_BYTES];

	describe(field, expected);
	return weir_fail(error, "bad_argument", weir_at(where, field->key).text, expected, NULL,
			 "'%s' has the wrong type", field->key);
}

static void
store(const struct weir_field *field, void *target, uint64_t value)
{
	void *member = (char *)target + field->offset;

	switch (field->bytes) {
	case 1:
		*(uint8_t *)member = value;
		break;
	case 2:
		*(uint16_t *)member = value;
		break;
	case 4:
		*(uint32_t *)member = value;
		break;
	case 8:
		*(uint64_t *)member = value;
		break;
	default:
		abort();
	}
}

static int
read_string(const struct weir_field *field, const json_t *value, const char *where,
	    const char **member, struct weir_error *error)
{
	char expected[32];

	*member = json_string_value(value);
	if (field->type == WEIR_FIELD_STRING || (**member != '\0' && strlen(*member) <= field->max))
		return 0;
	snprintf(expected, sizeof(expected), "1 to %lu bytes", field->max);
	return weir_fail(error, "bad_argument", weir_at(where, field->key).text, expected, NULL,
			 "'%.40s' is no name: it has %zu bytes", *member, strlen(*member));
}

static int
read_count(const struct weir_field *field, const json_t *value, const char *where, void *target,
	   struct weir_error *error)
{
	json_int_t count = json_integer_value(value);
	char expected[EXPECTED_BYTES];

	store(field, target, count);
	if (count >= 0 && (uint64_t)count >= field->min && (uint64_t)count <= field->max)
		return 0;
	describe(field, expected);
	return weir_fail(error, "bad_argument", weir_at(where, field->key).text, expected, NULL,
			 "'%s' cannot be %lld", field->key, (long long)count);
}

static int
read_choice(const struct weir_field *field, const json_t *value, const char *where, void *target,
	    struct weir_error *error)
{
	char expected[EXPECTED_BYTES];

	for (unsigned int i = 0; field->choices[i] != NULL; i++) {
		if (strcmp(field->choices[i], json_string_value(value)) != 0)
			continue;
		store(field, target, i);
		return 0;
	}
	describe(field, expected);
	return weir_fail(error, "bad_argument", weir_at(where, field->key).text, expected, NULL,
			 "'%s' cannot be '%s'", field->key, json_string_value(value));
}

static int
read_list(const struct weir_field *field, const json_t *value, const char *where,
	  const json_t **member, struct weir_error *error)
{
	size_t count = json_array_size(value);
	char expected[64];

	*member = value;
	if (count >= field->min && (count <= field->max || field->max == 0))
		return 0;
	if (field->min > 0)
		snprintf(expected, sizeof(expected), "%lu to %lu %s", field->min, field->max,
			 field->key);
	else
		snprintf(expected, sizeof(expected), "at most %lu %s", field->max, field->key);
	return weir_fail(error, "bad_argument", weir_at(where, field->key).text, expected, NULL,
			 "there are %zu %s", count, field->key);
}

static void
set_defaults(const struct weir_field *fields, void *target)
{
	for (const struct weir_field *field = fields; field->key != NULL; field++) {
		void *member = (char *)target + field->offset;

		if (field->type == WEIR_FIELD_OBJECT)
			set_defaults(field->fields, target);
		else if (field->type == WEIR_FIELD_STRING || field->type == WEIR_FIELD_NAME)
			*(const char **)member = NULL;
		else if (field->type == WEIR_FIELD_LIST || field->type == WEIR_FIELD_JSON)
			*(const json_t **)member = NULL;
		else if (field->type != WEIR_FIELD_READ)
			store(field, target, field->default_value);
	}
}

static int
read_field(const struct weir_field *field, const json_t *value, const char *where, void *target,
	   struct weir_error *error)
{
	void *member = (char *)target + field->offset;

	if (!has_type(field, value))
		return wrong_type(field, where, error);
	switch (field->type) {
	case WEIR_FIELD_STRING:
	case WEIR_FIELD_NAME:
		return read_string(field, value, where, member, error);
	case WEIR_FIELD_COUNT:
		return read_count(field, value, where, target, error);
	case WEIR_FIELD_BOOL:
		*(bool *)member = json_is_true(value);
		return 0;
	case WEIR_FIELD_CHOICE:
		return read_choice(field, value, where, target, error);
	case WEIR_FIELD_LIST:
		return read_list(field, value, where, member, error);
	case WEIR_FIELD_OBJECT:
		return weir_read(value, weir_at(where, field->key).text, field->fields, target,
				 error);
	case WEIR_FIELD_JSON:
		*(const json_t **)member = value;
		return 0;
	case WEIR_FIELD_READ:
		return field->read(value, weir_at(where, field->key).text, member, error);
	}
	return 0;
}

int
weir_read_known(const json_t *object, const char *where, const struct weir_field *fields,
		void *target, struct weir_error *error)
{
	if (!json_is_object(object))
		return weir_fail(error, "bad_argument", where[0] != '\0' ? where : "args",
				 "an object", NULL, "not a JSON object");
	set_defaults(fields, target);
	for (const struct weir_field *field = fields; field->key != NULL; field++) {
		const json_t *value = json_object_get(object, field->key);
		bool absent = value == NULL || json_is_null(value);

		if (absent && field->required)
			return missing(where, field->key, error);
		if (!absent && read_field(field, value, where, target, error) < 0)
			return -1;
	}
	return 0;
}

int
weir_read(const json_t *object, const char *where, const struct weir_field *fields, void *target,
	  struct weir_error *error)
{
	const struct weir_field *field;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		for (field = fields; field->key != NULL && strcmp(field->key, key) != 0;)
			field++;
		if (field->key == NULL)
			return unknown_key(key, where, fields, error);
	}
	return weir_read_known(object, where, fields, target, error);
}

int
weir_read_each(const json_t *list, const char *where, weir_read_fn read, void *target,
	       struct weir_error *error)
{
	struct weir_place place;
	size_t index;
	json_t *element;

	json_array_foreach((json_t *)list, index, element)
	{
		snprintf(place.text, sizeof(place.text), "%s[%zu]", where, index);
		if (read(element, place.text, target, error) < 0)
			return -1;
	}
	return 0;
}
