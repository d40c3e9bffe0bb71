/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/loop.h"
#include "stages.h"

struct change {
	const struct weir_command *command;
	const struct weir_named_stage *of;
	void *prepared;
};

static void
commit(void *argument)
{
	struct change *change = argument;

	change->command->commit(change->of->stage->state, change->prepared,
				change->of->chain->flows);
}

/* One for each state, in `changes`, or none of them: -1 with `error`. */
static int
prepare(const struct weir_command *command, const struct weir_named_stage *stages,
	unsigned int count, const void *arguments, struct change *changes, struct weir_error *error)
{
	for (unsigned int i = 0; i < count; i++) {
		changes[i] = (struct change){.command = command, .of = &stages[i]};
		if (command->prepare(stages[i].stage->state, arguments, "args",
				     &changes[i].prepared, error) == 0)
			continue;
		while (command->release != NULL && i-- > 0)
			command->release(changes[i].prepared);
		return -1;
	}
	return 0;
}

int
weir_stages_change(const struct weir_named_stage *stages, unsigned int count,
		   const struct weir_command *command, const void *arguments,
		   struct weir_error *error)
{
	struct change changes[WEIR_WORKERS_MAX];

	if (prepare(command, stages, count, arguments, changes, error) < 0)
		return -1;
	for (unsigned int i = 0; i < count; i++)
		weir_area_run(&stages[i].chain->area, commit, &changes[i]);
	if (command->release == NULL)
		return 0;
	weir_loops_pass(); /* a dispatcher may still read what was taken out */
	for (unsigned int i = 0; i < count; i++)
		command->release(changes[i].prepared);
	return 0;
}
