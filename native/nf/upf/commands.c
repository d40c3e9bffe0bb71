/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions come, change and go while packets flow. */
#include <stdlib.h>

#include <rte_common.h>

#include "changes.h"

struct arguments {
	char sessions[WEIR_OPTION_TEXT_BYTES];
};

static int
prepare(const void *state, enum upf_change_kind kind, const struct arguments *arguments,
	const char *where, void **prepared, struct weir_error *error)
{
	struct upf_changes *changes = malloc(sizeof(*changes));

	if (changes == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	changes->kind = kind;
	if (upf_changes_read(arguments->sessions, changes, where, error) < 0 ||
	    upf_changes_check(state, changes, where, error) < 0) {
		free(changes);
		return -1;
	}
	*prepared = changes;
	return 0;
}

static int
prepare_add(const void *state, const void *arguments, const char *where, void **prepared,
	    struct weir_error *error)
{
	return prepare(state, UPF_ADD, arguments, where, prepared, error);
}

static int
prepare_modify(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	return prepare(state, UPF_MODIFY, arguments, where, prepared, error);
}

static int
prepare_remove(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	return prepare(state, UPF_REMOVE, arguments, where, prepared, error);
}

static void
commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	(void)cache; /* it moves packets, and nothing remembers for it */
	upf_changes_apply(state, prepared);
}

static const struct weir_option arguments[] = {
	{
		.name = "sessions",
		.type = WEIR_OPTION_TEXT,
		.help = "Entries \"ue=ADDRESS key=value ...\", separated by commas, 128 at most: "
			"ue_prefix, of IPv6, beside ue or in its place; teid, gnb, gnb_teid, qfi; "
			"uplink, downlink: forward, drop or (downlink) buffer; end_marker: true or "
			"false; gate_uplink, "
			"gate_downlink: open or "
			"closed; mbr_uplink_bps, "
			"mbr_downlink_bps. All of them happen, or none.",
		.offset = offsetof(struct arguments, sessions),
	},
};

#define COMMAND(title, prepare_it, text)                                                           \
	{                                                                                          \
		.name = title, .help = text, .options = arguments,                                 \
		.option_count = RTE_DIM(arguments), .arguments_size = sizeof(struct arguments),    \
		.prepare = prepare_it, .commit = commit, .release = free,                          \
	}

const struct weir_command upf_commands[UPF_COMMANDS] = {
	COMMAND("sessions-add", prepare_add,
		"Adds sessions; each needs ue or ue_prefix, and teid. Without gnb_teid its "
		"downlink "
		"is dropped."),
	COMMAND("sessions-modify", prepare_modify,
		"Changes what is given of sessions, and nothing else: gnb and gnb_teid hand one "
		"over."),
	COMMAND("sessions-remove", prepare_remove,
		"Removes sessions; each needs ue or ue_prefix alone."),
};
