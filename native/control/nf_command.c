/* SPDX-License-Identifier: Apache-2.0 */
/* `nf.command`: changes a function while packets flow, without losing one; all its workers or none.
 */
#include <stdlib.h>
#include <string.h>

#include "options_json.h"
#include "stages.h"
#include "verbs.h"

static const struct weir_command *
command_named(const struct weir_nf *nf, const char *name)
{
	for (unsigned int i = 0; i < nf->command_count; i++) {
		if (strcmp(nf->commands[i].name, name) == 0)
			return &nf->commands[i];
	}
	return NULL;
}

static int
run(const struct weir_command *command, const struct weir_named_stage *stages, unsigned int count,
    const struct weir_option_values *values, struct weir_error *error)
{
	void *arguments = calloc(1, command->arguments_size > 0 ? command->arguments_size : 1);
	int status;

	if (arguments == NULL)
		return weir_fail(error, "no_memory", "args", NULL, NULL, "no memory");
	status = weir_options_parse(command->name, command->options, command->option_count,
				    values->value, values->count, arguments, "args", error);
	if (status == 0)
		status = weir_stages_change(stages, count, command, arguments, error);
	free(arguments);
	return status;
}

struct nf_command_fields {
	const char *area, *stage, *command;
	const json_t *args;
};

#define INTO(member) WEIR_INTO(struct nf_command_fields, member)

static const struct weir_field nf_command_fields[] = {
	{"area", WEIR_FIELD_STRING, true, INTO(area)},
	{"stage", WEIR_FIELD_STRING, true, INTO(stage)},
	{"command", WEIR_FIELD_STRING, true, INTO(command)},
	{"args", WEIR_FIELD_JSON, INTO(args)},
	{0},
};

static int
nf_command(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct nf_command_fields *fields = arguments;
	const struct weir_command *command;
	struct weir_option_values values;
	struct weir_named_stage stages[WEIR_WORKERS_MAX];
	const struct weir_nf *nf;
	int count;

	(void)result;
	if (weir_options_from_json(fields->args, "args", &values, error) < 0)
		return -1;
	count = weir_stages_named(fields->area, fields->stage, stages, error);
	if (count < 0)
		return -1;
	nf = stages[0].stage->nf;
	command = command_named(nf, fields->command);
	if (command == NULL)
		return weir_fail(error, "bad_argument", "command",
				 "a command that weir-dp --describe lists", NULL,
				 "%s has no command '%s'", nf->name, fields->command);
	return run(command, stages, count, &values, error);
}

const struct weir_verb weir_verb_nf_command = {"nf.command",
					       "Changes a function while packets flow.", nf_command,
					       nf_command_fields, sizeof(struct nf_command_fields)};
