/* SPDX-License-Identifier: Apache-2.0 */
/* Objects read by a table: widths of members, defaults, what is refused, and where it says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "control/fields.h"

enum colour { RED, GREEN, BLUE };

struct target {
	uint8_t one, guard_1;
	uint16_t two, guard_2;
	uint32_t four, guard_4;
	uint64_t eight, guard_8;
	bool flag, choice_flag;
	enum colour colour;
	const char *text, *name;
	const json_t *list, *any, *json;
	uint16_t inner, deepest;
	int read;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const transports[] = {"udp", "tcp", NULL};

static int
read_seven(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	if (json_integer_value(value) != 7)
		return weir_fail(error, "bad_argument", where, "7", NULL, "not 7");
	*(int *)target = 7;
	return 0;
}

#define INTO(member) WEIR_INTO(struct target, member)

static const struct weir_field deepest_fields[] = {
	{"deepest", WEIR_FIELD_COUNT, .max = 99, .default_value = 12, INTO(deepest)},
	{0},
};

static const struct weir_field inner_fields[] = {
	{"inner", WEIR_FIELD_COUNT, .min = 1, .max = 99, .default_value = 11, INTO(inner)},
	{"deeper", WEIR_FIELD_OBJECT, .fields = deepest_fields},
	{0},
};

static const struct weir_field fields[] = {
	{"one", WEIR_FIELD_COUNT, .max = UINT8_MAX, .default_value = 1, INTO(one)},
	{"two", WEIR_FIELD_COUNT, .max = UINT16_MAX, .default_value = 2, INTO(two)},
	{"four", WEIR_FIELD_COUNT, .max = UINT32_MAX, .default_value = 4, INTO(four)},
	{"eight", WEIR_FIELD_COUNT, .min = 3, .max = INT64_MAX, .default_value = 8, INTO(eight)},
	{"flag", WEIR_FIELD_BOOL, .default_value = true, INTO(flag)},
	{"l4", WEIR_FIELD_CHOICE, .choices = transports, INTO(choice_flag)},
	{"colour", WEIR_FIELD_CHOICE, .choices = colours, .default_value = BLUE, INTO(colour)},
	{"text", WEIR_FIELD_STRING, INTO(text)},
	{"name", WEIR_FIELD_NAME, .max = 4, INTO(name)},
	{"list", WEIR_FIELD_LIST, .min = 1, .max = 3, INTO(list)},
	{"any", WEIR_FIELD_LIST, INTO(any)},
	{"json", WEIR_FIELD_JSON, INTO(json)},
	{"nested", WEIR_FIELD_OBJECT, .fields = inner_fields},
	{"read", WEIR_FIELD_READ, .read = read_seven, INTO(read)},
	{0},
};

/* Keys of which few edits make any other. */
static const struct weir_field short_fields[] = {
	{"id", WEIR_FIELD_COUNT, .max = 9, INTO(one)},
	{"to", WEIR_FIELD_COUNT, .max = 9, INTO(two)},
	{"0a", WEIR_FIELD_COUNT, .max = 9, INTO(four)},
	{0},
};

static struct weir_error error;

/* What is not in the table, and what is absent, keeps these bytes. */
static struct target
read(const char *text, const struct weir_field *table, const char *where, int status)
{
	json_t *object = json_loads(text, JSON_DECODE_ANY, NULL);
	struct target target;

	assert_non_null(object);
	memset(&target, 0xa5, sizeof(target));
	memset(&error, 0, sizeof(error));
	assert_int_equal(weir_read(object, where, table, &target, &error), status);
	json_decref(object);
	return target;
}

static struct target
accepted(const char *text)
{
	return read(text, fields, "", 0);
}

static void
refused(const char *text, const char *where, const char *message)
{
	read(text, fields, "areas[2]", -1);
	assert_string_equal(error.code, "bad_argument");
	assert_string_equal(error.where, where);
	assert_string_equal(error.message, message);
}

static void
assert_guards(const struct target *target)
{
	assert_int_equal(target->guard_1, 0xa5);
	assert_int_equal(target->guard_2, 0xa5a5);
	assert_int_equal(target->guard_4, 0xa5a5a5a5);
	assert_true(target->guard_8 == 0xa5a5a5a5a5a5a5a5);
}

static void
numbers_have_the_width_of_their_member(void **state)
{
	struct target target = accepted("{\"one\": 255, \"two\": 65535, \"four\": 4294967295, "
					"\"eight\": 9223372036854775807}");

	(void)state;
	assert_int_equal(target.one, UINT8_MAX);
	assert_int_equal(target.two, UINT16_MAX);
	assert_int_equal(target.four, UINT32_MAX);
	assert_true(target.eight == INT64_MAX);
	assert_guards(&target);
	target = accepted("{\"one\": 0, \"two\": 0, \"four\": 0, \"eight\": 3}");
	assert_int_equal(target.one, 0);
	assert_int_equal(target.two, 0);
	assert_int_equal(target.four, 0);
	assert_true(target.eight == 3);
	assert_guards(&target);
}

static void
choices_go_into_enums_and_bools(void **state)
{
	struct target target =
		accepted("{\"colour\": \"green\", \"l4\": \"tcp\", \"flag\": false}");

	(void)state;
	assert_int_equal(target.colour, GREEN);
	assert_true(target.choice_flag);
	assert_false(target.flag);
	refused("{\"colour\": \"pink\"}", "areas[2].colour", "'colour' cannot be 'pink'");
	assert_string_equal(error.expected, "red, green or blue");
}

static void
what_is_absent_has_its_default_in_nested_objects_too(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"nested\": {}}",
		"{\"nested\": {\"deeper\": {}}}",
		"{\"nested\": null, \"one\": null, \"text\": null, \"list\": null, \"read\": null}",
		"{\"nested\": {\"deeper\": {\"deepest\": null}, \"inner\": null}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct target target = accepted(texts[i]);

		assert_int_equal(target.one, 1);
		assert_int_equal(target.two, 2);
		assert_int_equal(target.four, 4);
		assert_true(target.eight == 8);
		assert_true(target.flag);
		assert_int_equal(target.colour, BLUE);
		assert_null(target.text);
		assert_null(target.name);
		assert_null(target.list);
		assert_null(target.any);
		assert_null(target.json);
		assert_int_equal(target.inner, 11);
		assert_int_equal(target.deepest, 12);
		assert_int_equal(target.read, (int)0xa5a5a5a5);
		assert_guards(&target);
	}
	assert_int_equal(accepted("{\"nested\": {\"inner\": 5}}").inner, 5);
	assert_int_equal(accepted("{\"nested\": {\"inner\": 5}}").deepest, 12);
}

static void
a_required_key_is_neither_missing_nor_null(void **state)
{
	static const struct weir_field required[] = {
		{"one", WEIR_FIELD_COUNT, true, .max = 9, INTO(one)},
		{0},
	};

	(void)state;
	read("{}", required, "", -1);
	assert_string_equal(error.where, "one");
	assert_string_equal(error.message, "'one' is missing");
	read("{\"one\": null}", required, "streams[0]", -1);
	assert_string_equal(error.where, "streams[0].one");
	assert_int_equal(read("{\"one\": 9}", required, "", 0).one, 9);
}

static void
values_out_of_range_or_of_another_type_are_refused(void **state)
{
	(void)state;
	refused("{\"one\": 256}", "areas[2].one", "'one' cannot be 256");
	assert_string_equal(error.expected, "a whole number from 0 to 255");
	refused("{\"eight\": 2}", "areas[2].eight", "'eight' cannot be 2");
	refused("{\"eight\": -1}", "areas[2].eight", "'eight' cannot be -1");
	refused("{\"one\": 1.5}", "areas[2].one", "'one' has the wrong type");
	refused("{\"one\": \"1\"}", "areas[2].one", "'one' has the wrong type");
	refused("{\"one\": true}", "areas[2].one", "'one' has the wrong type");
	refused("{\"flag\": 1}", "areas[2].flag", "'flag' has the wrong type");
	refused("{\"text\": 1}", "areas[2].text", "'text' has the wrong type");
	refused("{\"nested\": []}", "areas[2].nested", "'nested' has the wrong type");
	refused("{\"nested\": {\"inner\": 0}}", "areas[2].nested.inner", "'inner' cannot be 0");
	refused("{\"name\": \"\"}", "areas[2].name", "'' is no name: it has 0 bytes");
	refused("{\"name\": \"fives\"}", "areas[2].name", "'fives' is no name: it has 5 bytes");
	refused("{\"read\": 8}", "areas[2].read", "not 7");
	assert_int_equal(accepted("{\"read\": 7}").read, 7);
	refused("[]", "areas[2]", "not a JSON object");
}

static void
lists_have_their_least_and_most_elements(void **state)
{
	(void)state;
	refused("{\"list\": []}", "areas[2].list", "there are 0 list");
	assert_string_equal(error.expected, "1 to 3 list");
	refused("{\"list\": [1, 2, 3, 4]}", "areas[2].list", "there are 4 list");
	assert_non_null(accepted("{\"list\": [1]}").list);
	assert_non_null(accepted("{\"list\": [1, 2, 3]}").list);
	assert_non_null(accepted("{\"any\": []}").any);
	assert_non_null(accepted("{\"any\": [1, 2, 3, 4]}").any);
	refused("{\"any\": {}}", "areas[2].any", "'any' has the wrong type");
}

static void
assert_hint(const char *text, const struct weir_field *table, const char *fix)
{
	read(text, table, "", -1);
	assert_string_equal(error.fix, fix);
}

static void
an_unknown_key_has_a_hint_only_if_it_resembles_one(void **state)
{
	(void)state;
	refused("{\"colours\": \"red\"}", "areas[2].colours", "unknown key 'colours'");
	assert_hint("{\"colours\": 1}", fields, "did you mean 'colour'?");
	assert_hint("{\"clour\": 1}", fields, "did you mean 'colour'?");
	assert_hint("{\"color\": 1}", fields, "did you mean 'colour'?");
	assert_hint("{\"nestings\": 1}", fields, "");
	assert_hint("{\"x\": 1}", short_fields, ""); /* one edit is the whole of it */
	assert_hint("{\"ix\": 1}", short_fields, "did you mean 'id'?");
	assert_hint("{\"xy\": 1}", short_fields, "");
	assert_hint("{\"xyz\": 1}", short_fields, "");
	assert_hint("{\"idx\": 1}", short_fields, "did you mean 'id'?");
	assert_hint("{\"0b\": 1}", short_fields, ""); /* a number of something, not a misspelling */
	assert_hint("{\"an_unknown_key_that_is_longer_than_31_bytes\": 1}", fields, "");
}

static void
keys_of_another_table_are_left_to_it(void **state)
{
	json_t *object = json_loads("{\"one\": 5, \"unknown\": 1}", 0, NULL);
	struct target target;

	(void)state;
	assert_int_equal(weir_read_known(object, "", fields, &target, &error), 0);
	assert_int_equal(target.one, 5);
	json_decref(object);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_width_of_their_member),
		cmocka_unit_test(choices_go_into_enums_and_bools),
		cmocka_unit_test(what_is_absent_has_its_default_in_nested_objects_too),
		cmocka_unit_test(a_required_key_is_neither_missing_nor_null),
		cmocka_unit_test(values_out_of_range_or_of_another_type_are_refused),
		cmocka_unit_test(lists_have_their_least_and_most_elements),
		cmocka_unit_test(an_unknown_key_has_a_hint_only_if_it_resembles_one),
		cmocka_unit_test(keys_of_another_table_are_left_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
