/* SPDX-License-Identifier: Apache-2.0 */
#include "options_json.h"

#include <stdio.h>

int
weir_options_from_json(const json_t *object, const char *where, struct weir_option_values *values,
		       struct weir_error *error)
{
	const char *key;
	json_t *value;

	values->count = 0;
	if (object == NULL)
		return 0;
	if (!json_is_object(object))
		return weir_fail(error, "bad_argument", where, "an object", NULL,
				 "options are not an object");
	json_object_foreach((json_t *)object, key, value)
	{
		struct weir_option_value *to = &values->value[values->count];
		char *text = values->text[values->count];

		if (values->count == WEIR_OPTION_VALUES_MAX)
			return weir_fail(error, "bad_argument", where, "at most 32 options", NULL,
					 "too many options");
		to->name = key;
		to->text = text;
		if (json_is_string(value))
			to->text = json_string_value(value);
		else if (json_is_integer(value))
			snprintf(text, sizeof(values->text[0]), "%lld",
				 (long long)json_integer_value(value));
		else if (json_is_boolean(value))
			to->text = json_is_true(value) ? "true" : "false";
		else
			return weir_fail(error, "bad_argument", where,
					 "a string, whole number or boolean", NULL,
					 "option '%s' has the wrong type", key);
		values->count++;
	}
	return 0;
}
