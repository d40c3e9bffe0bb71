/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of sessions as people and tests write them. */
#include <string.h>

#include <rte_common.h>

#include "toolkit/entries.h"
#include "changes.h"

#define KEYS 13

static const char *const action_names[] = {[UPF_ACTION_FORWARD] = "forward",
					   [UPF_ACTION_DROP] = "drop",
					   [UPF_ACTION_BUFFER] = "buffer",
					   NULL};
static const char *const gate_names[] = {
	[UPF_GATE_OPEN] = "open", [UPF_GATE_CLOSED] = "closed", NULL};

#define TEID_KEY(field)                                                                            \
	{                                                                                          \
		.name = #field, .type = WEIR_OPTION_INT, .min = 1, .max = UINT32_MAX,              \
		.offset = offsetof(struct upf_change, field),                                      \
	}
#define MBR_KEY(key, way)                                                                          \
	{                                                                                          \
		.name = key, .type = WEIR_OPTION_INT, .unit = "bit/s", .max = UPF_MBR_MAX_BPS,     \
		.offset = offsetof(struct upf_change, mbr_bps[way]),                               \
	}
#define NAMED_KEY(key, field, names)                                                               \
	{                                                                                          \
		.name = key, .type = WEIR_OPTION_ENUM, .values = names,                            \
		.offset = offsetof(struct upf_change, field),                                      \
	}

/* In the order of the bits of enum upf_given. */
static const struct weir_option keys[KEYS] = {
	{.name = "ue", .type = WEIR_OPTION_IPV4, .offset = offsetof(struct upf_change, ue.ip)},
	TEID_KEY(teid),
	{.name = "gnb", .type = WEIR_OPTION_IPV4, .offset = offsetof(struct upf_change, gnb_ip)},
	TEID_KEY(gnb_teid),
	{
		.name = "qfi",
		.type = WEIR_OPTION_INT,
		.max = WEIR_GTPU_QFI_MAX,
		.offset = offsetof(struct upf_change, qfi),
	},
	NAMED_KEY("uplink", action[WEIR_OUTBOUND], action_names),
	NAMED_KEY("downlink", action[WEIR_INBOUND], action_names),
	NAMED_KEY("gate_uplink", gate[WEIR_OUTBOUND], gate_names),
	NAMED_KEY("gate_downlink", gate[WEIR_INBOUND], gate_names),
	MBR_KEY("mbr_uplink_bps", WEIR_OUTBOUND),
	MBR_KEY("mbr_downlink_bps", WEIR_INBOUND),
	{
		.name = "ue_prefix",
		.type = WEIR_OPTION_PREFIX6,
		.offset = offsetof(struct upf_change, ue_prefix),
	},
	{
		.name = "end_marker",
		.type = WEIR_OPTION_BOOL,
		.offset = offsetof(struct upf_change, end_marker),
	},
};

static uint32_t
given_by(const char *key)
{
	unsigned int i = 0;

	while (strcmp(keys[i].name, key) != 0)
		i++;
	return 1u << i;
}

static void
take_prefix(struct upf_change *change)
{
	const struct upf_prefix mask = upf_prefix_mask(change->ue_prefix.length);

	change->ue.prefix = upf_prefix_of(change->ue_prefix.address, &mask);
	/* ::/N is none. */
	if ((change->ue.prefix.words[0] | change->ue.prefix.words[1]) != 0)
		change->ue.prefix_bits = change->ue_prefix.length;
}

/* One session: its words become one change. */
static int
take(void *argument, char *entry, const char *where, struct weir_error *error)
{
	struct upf_changes *changes = argument;
	struct upf_change *change = &changes->change[changes->count];
	char *rest = NULL;

	if (changes->count == UPF_CHANGES_MAX)
		return weir_fail(error, "bad_argument", where, "128 sessions at most",
				 "change the others with further commands", "too many sessions");
	*change = (struct upf_change){0};
	for (char *word = strtok_r(entry, " \t\r", &rest); word != NULL;
	     word = strtok_r(NULL, " \t\r", &rest)) {
		struct weir_option_value value = {.name = word};
		char *equals = strchr(word, '=');

		if (equals == NULL)
			return weir_fail(error, "bad_argument", where, "words such as ue=10.46.0.1",
					 NULL, "'%s' is not a key and its value", word);
		*equals = '\0';
		value.text = equals + 1;
		if (weir_options_parse("a session", keys, KEYS, &value, 1, change, where, error) <
		    0)
			return -1;
		change->given |= given_by(word);
	}
	take_prefix(change);
	changes->count++;
	return 0;
}

int
upf_changes_read(const char *text, struct upf_changes *changes, const char *where,
		 struct weir_error *error)
{
	static_assert(1u << (KEYS - 1) == UPF_GIVEN_END_MARKER, "a bit a key");
	static_assert(UPF_CHANGES_MAX == 128, "as the message says");
	changes->count = 0;
	return weir_entries_each("a change of sessions", text, "", take, changes, where, error);
}
