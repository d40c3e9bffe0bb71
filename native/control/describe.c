/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include "engine/nf.h"
#include "port/open.h"

static json_t *
option_to_json(const struct weir_option *option)
{
	json_t *object = json_pack("{s:s, s:s, s:s?, s:s?, s:s}", "name", option->name, "type",
				   weir_option_type_name(option->type), "unit", option->unit,
				   "default", option->default_text, "help", option->help);

	if (option->type == WEIR_OPTION_INT) {
		json_object_set_new(object, "min", json_integer(option->min));
		json_object_set_new(object, "max", json_integer(option->max));
	}
	if (option->type == WEIR_OPTION_ENUM) {
		json_t *values = json_array();

		for (unsigned int i = 0; option->values[i] != NULL; i++)
			json_array_append_new(values, json_string(option->values[i]));
		json_object_set_new(object, "values", values);
	}
	return object;
}

static json_t *
options_to_json(const struct weir_option *options, unsigned int count)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(array, option_to_json(&options[i]));
	return array;
}

static json_t *
command_to_json(const struct weir_command *command)
{
	return json_pack("{s:s, s:s, s:o}", "name", command->name, "help", command->help,
			 "arguments", options_to_json(command->options, command->option_count));
}

static json_t *
nf_to_json(const struct weir_nf *nf)
{
	json_t *commands = json_array();
	json_t *reasons = json_array();

	for (unsigned int i = 0; i < nf->command_count; i++)
		json_array_append_new(commands, command_to_json(&nf->commands[i]));
	for (unsigned int i = 0; i < nf->drop_reason_count; i++)
		json_array_append_new(reasons,
				      json_pack("{s:s, s:s}", "symbol", nf->drop_reasons[i].symbol,
						"sentence", nf->drop_reasons[i].sentence));
	return json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:i, s:b, s:s?, s:o, s:o, s:o}",
			 "name", nf->name, "summary", nf->summary, "returns", nf->returns,
			 "decides", nf->decide != NULL, "steers", nf->steer != NULL, "rewrites",
			 nf->rewrites, "tunnels", nf->tunnels, "flow_bytes", nf->flow_bytes,
			 "outbound_flows_only", nf->outbound_flows_only, "stand_in", nf->stand_in,
			 "options", options_to_json(nf->options, nf->option_count), "drop_reasons",
			 reasons, "commands", commands);
}

json_t *
weir_describe(json_t *verbs)
{
	json_t *nfs = json_array();
	json_t *kinds = json_array();
	const char *kind;

	for (unsigned int i = 0; i < weir_nf_count; i++)
		json_array_append_new(nfs, nf_to_json(weir_nf_table[i]));
	for (unsigned int i = 0; (kind = weir_port_kind_name(i)) != NULL; i++)
		json_array_append_new(kinds, json_string(kind));
	return json_pack("{s:s, s:i, s:o, s:o, s:o}", "version", WEIR_VERSION, "protocol",
			 WEIR_PROTOCOL_VERSION, "nfs", nfs, "port_kinds", kinds, "commands", verbs);
}
