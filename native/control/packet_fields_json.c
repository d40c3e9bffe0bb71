/* SPDX-License-Identifier: Apache-2.0 */
#include "packet_fields_json.h"

#include <string.h>

#include "fields.h"

struct one_field {
	unsigned int field;
	struct weir_packet_values values;
	const json_t *list, *weights;
};

#define INTO(member) WEIR_INTO(struct one_field, member)

enum { IN_TURN, RANDOM };
static const char *const orders[] = {"in-turn", "random", NULL};

static int
read_name(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	const char *name = json_string_value(value);
	unsigned int *field = target;

	for (unsigned int i = 0; name != NULL && weir_packet_field_names[i] != NULL; i++) {
		if (strcmp(name, weir_packet_field_names[i]) == 0) {
			*field = i;
			return 0;
		}
	}
	return weir_fail(error, "bad_argument", where,
			 "src_ip, dst_ip, src_port, dst_port, vlan, priority, dscp, ttl, "
			 "payload_byte",
			 NULL, "'field' names no field");
}

static const struct weir_field field_fields[] = {
	{"field", WEIR_FIELD_READ, true, .read = read_name, INTO(field)},
	{"order", WEIR_FIELD_CHOICE, .choices = orders, INTO(values.random)},
	{"from", WEIR_FIELD_COUNT, .max = UINT32_MAX, INTO(values.from)},
	{"count", WEIR_FIELD_COUNT, .min = 1, .max = 1ull << 32, .default_value = 1,
	 INTO(values.count)},
	{"step", WEIR_FIELD_COUNT, .min = 1, .max = UINT32_MAX, .default_value = 1,
	 INTO(values.step)},
	{"values", WEIR_FIELD_LIST, .min = 1, .max = WEIR_PACKET_VALUES_MAX, INTO(list)},
	{"weights", WEIR_FIELD_LIST, .min = 1, .max = WEIR_PACKET_VALUES_MAX, INTO(weights)},
	{"seed", WEIR_FIELD_COUNT, .max = INT64_MAX, .default_value = 1, INTO(values.seed)},
	{0},
};

struct numbers {
	uint32_t *into;
	uint16_t count;
};

static int
next_number(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	struct numbers *numbers = target;
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number > UINT32_MAX)
		return weir_fail(error, "bad_argument", where, "an integer from 0 to 4294967295",
				 NULL, "a value of a field is none");
	numbers->into[numbers->count++] = (uint32_t)number;
	return 0;
}

static int
read_list(struct one_field *one, const char *where, struct weir_error *error)
{
	struct numbers values = {.into = one->values.value}, weights = {.into = one->values.weight};

	if (weir_read_each(one->list, weir_at(where, "values").text, next_number, &values, error) <
		    0 ||
	    weir_read_each(one->weights, weir_at(where, "weights").text, next_number, &weights,
			   error) < 0)
		return -1;
	if (one->weights != NULL && (weights.count != values.count || !one->values.random))
		return weir_fail(error, "bad_argument", weir_at(where, "weights").text,
				 "one for each value, of the order `random`", NULL,
				 "%u weights for %u values", weights.count, values.count);
	for (uint16_t i = 0; one->weights == NULL && i < values.count; i++)
		one->values.weight[i] = 1;
	one->values.listed = values.count;
	return 0;
}

static int
next_field(const json_t *object, const char *where, void *target, struct weir_error *error)
{
	struct weir_stream_config *config = target;
	struct one_field one = {0};

	if (weir_read(object, where, field_fields, &one, error) < 0 ||
	    read_list(&one, where, error) < 0)
		return -1;
	if (config->fields[one.field].count > 0)
		return weir_fail(error, "bad_argument", weir_at(where, "field").text,
				 "each field once", NULL, "%s is named twice",
				 weir_packet_field_names[one.field]);
	config->fields[one.field] = one.values;
	return 0;
}

int
weir_packet_fields_from_json(const json_t *list, const char *where,
			     struct weir_stream_config *config, struct weir_error *error)
{
	return weir_read_each(list, where, next_field, config, error);
}
