/* SPDX-License-Identifier: Apache-2.0 */
/* Other rules while packets flow: compiled beside the old ones, they take their place. */
#include <stdlib.h>

#include "dpi.h"

struct arguments {
	char rules_file[WEIR_OPTION_TEXT_BYTES];
};

static const struct weir_option arguments[] = {
	{
		.name = "rules_file",
		.type = WEIR_OPTION_FILE,
		.help = "The new rules, all of them; it may be the same file.",
		.offset = offsetof(struct arguments, rules_file),
	},
};

struct prepared {
	struct dpi_rules *rules;
	struct dpi_streams streams;
};

static int
prepare(const void *state, const void *given, const char *where, void **result,
	struct weir_error *error)
{
	const struct dpi *dpi = state;
	const struct arguments *texts = given;
	struct prepared *prepared = calloc(1, sizeof(*prepared));

	if (prepared == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	if (texts->rules_file[0] == '\0')
		weir_fail(error, "bad_argument", where, "rules_file", NULL,
			  "rules-load has no rules_file");
	else
		prepared->rules =
			dpi_rules_load(texts->rules_file, dpi->inspections.ndpi, where, error);
	if (prepared->rules == NULL) {
		free(prepared);
		return -1;
	}
	if (dpi_streams_init(&prepared->streams, prepared->rules, dpi->inspections.capacity) < 0) {
		dpi_rules_release(prepared->rules);
		free(prepared);
		return weir_fail(error, "no_memory", where, NULL, "lower inspections_max",
				 "no memory to match by these rules");
	}
	*result = prepared;
	return 0;
}

/* Quick: flows are classified by the new rules at their next packet, or by the sweep, which removes
 * entries of the fast path whose verdict changes. */
static void
commit(void *state, void *argument, struct weir_flow_cache *cache)
{
	struct dpi *dpi = state;
	struct prepared *prepared = argument;
	const struct prepared before = {.rules = dpi->rules, .streams = dpi->streams};

	(void)cache;
	dpi->rules = prepared->rules;
	dpi->streams = prepared->streams;
	dpi->matching.rules = dpi->rules;
	dpi->matching.epoch++;
	*prepared = before;
}

static void
release(void *argument)
{
	struct prepared *prepared = argument;

	dpi_streams_fini(&prepared->streams);
	dpi_rules_release(prepared->rules);
	free(prepared);
}

/* In the first round of the sweep a flow may have moved before it. */
static void
flush_commit(void *state, void *argument, struct weir_flow_cache *cache)
{
	struct dpi *dpi = state;

	(void)argument;
	(void)cache;
	dpi->flush_left = 2 * dpi->flows_max;
}

const struct weir_command dpi_commands[2] = {
	{
		.name = "rules-load",
		.help = "Takes other rules. Flows that begin are held against them at once, others "
			"within a second: those whose verdict would be another one are inspected "
			"anew.",
		.options = arguments,
		.option_count = RTE_DIM(arguments),
		.arguments_size = sizeof(struct arguments),
		.prepare = prepare,
		.commit = commit,
		.release = release,
	},
	{
		.name = "flush",
		.help = "Ends all flows that have no packets while the sweep goes round the "
			"table twice: 2 seconds of a large table, milliseconds of a small one.",
		.prepare = weir_command_prepares_nothing,
		.commit = flush_commit,
	},
};
