/* SPDX-License-Identifier: Apache-2.0 */
/* `nf.command`: changes a function while packets flow, without losing one. */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "dataplane.h"
#include "options_json.h"
#include "verb.h"

static const struct weir_command *
command_named(const struct weir_nf *nf, const char *name)
{
	for (unsigned int i = 0; i < nf->command_count; i++) {
		if (strcmp(nf->commands[i].name, name) == 0)
			return &nf->commands[i];
	}
	return NULL;
}

struct change {
	const struct weir_command *command;
	void *state;
	void *prepared;
	struct weir_flow_cache *flows;
};

static void
commit(void *argument)
{
	struct change *change = argument;

	change->command->commit(change->state, change->prepared, change->flows);
}

static int
run(struct weir_chain *chain, struct weir_stage *stage, const struct weir_command *command,
    const struct weir_option_values *values, struct weir_error *error)
{
	struct change change = {
		.command = command,
		.state = stage->state,
		.flows = chain->flows,
	};
	void *arguments = calloc(1, command->arguments_size > 0 ? command->arguments_size : 1);
	int status;

	if (arguments == NULL)
		return weir_fail(error, "no_memory", "args", NULL, NULL, "no memory");
	status = weir_options_parse(command->name, command->options, command->option_count,
				    values->value, values->count, arguments, "args", error);
	if (status == 0)
		status = command->prepare(stage->state, arguments, "args", &change.prepared, error);
	free(arguments);
	if (status < 0)
		return -1;
	weir_area_run(&chain->area, commit, &change);
	weir_loops_pass(); /* a dispatcher may still read what was taken out */
	if (command->release != NULL)
		command->release(change.prepared);
	return 0;
}

int
weir_take_stage(const json_t *args, struct weir_chain **chain, struct weir_stage **stage,
		struct weir_error *error)
{
	const char *area = NULL, *name = NULL;

	if (weir_take_string(args, "area", true, "", &area, error) < 0 ||
	    weir_take_string(args, "stage", true, "", &name, error) < 0)
		return -1;
	*chain = weir_chain_named(area);
	if (*chain == NULL)
		return weir_fail(error, "bad_argument", "area", "the name of an area of functions",
				 NULL, "there is no area '%s'", area);
	*stage = weir_chain_stage_named(*chain, name);
	if (*stage == NULL)
		return weir_fail(error, "bad_argument", "stage", "the name of a stage of that area",
				 NULL, "area '%s' has no stage '%s'", area, name);
	return 0;
}

int
weir_verb_nf_command(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"area", "stage", "command", "args", NULL};
	const char *name = NULL;
	const struct weir_command *command;
	struct weir_option_values values;
	struct weir_chain *chain;
	struct weir_stage *stage;

	(void)result;
	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_string(args, "command", true, "", &name, error) < 0 ||
	    weir_options_from_json(json_object_get(args, "args"), "args", &values, error) < 0 ||
	    weir_take_stage(args, &chain, &stage, error) < 0)
		return -1;
	command = command_named(stage->nf, name);
	if (command == NULL)
		return weir_fail(error, "bad_argument", "command",
				 "a command that weir-dp --describe lists", NULL,
				 "%s has no command '%s'", stage->nf->name, name);
	return run(chain, stage, command, &values, error);
}
