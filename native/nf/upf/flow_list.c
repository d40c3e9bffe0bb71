/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_list.h"

#include <string.h>

#include <rte_common.h>

#include "toolkit/entries.h"

/* A rule each way, and two more for what is of no flow. */
#define FLOWS_MAX (UPF_RULES_OF_SESSION_MAX / 2 - 1)

struct flow {
	uint64_t qfi, mbr_bps[2];
};

static const struct weir_option keys[] = {
	{
		.name = "qfi",
		.type = WEIR_OPTION_INT,
		.max = WEIR_GTPU_QFI_MAX,
		.offset = offsetof(struct flow, qfi),
	},
	{
		.name = "mbr_uplink_bps",
		.type = WEIR_OPTION_INT,
		.unit = "bit/s",
		.max = UPF_MBR_MAX_BPS,
		.offset = offsetof(struct flow, mbr_bps[WEIR_OUTBOUND]),
	},
	{
		.name = "mbr_downlink_bps",
		.type = WEIR_OPTION_INT,
		.unit = "bit/s",
		.max = UPF_MBR_MAX_BPS,
		.offset = offsetof(struct flow, mbr_bps[WEIR_INBOUND]),
	},
};

/* One rule each way. */
static void
add(struct upf_flow_list *list, const struct flow *flow, const struct upf_filter *filter)
{
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		struct upf_rule_wanted *rule = &list->rule[list->count++];

		rule->id = (uint16_t)list->count;
		rule->direction = (uint8_t)way;
		rule->of_session = true;
		rule->has_qfi_given = true;
		rule->qfi = (uint8_t)flow->qfi;
		rule->mbr_bps = flow->mbr_bps[way];
		rule->match.qfi = WEIR_GTPU_NO_QFI;
		rule->match.families = UPF_ANY_FAMILY;
		if (filter != NULL)
			rule->match.filter[rule->match.filter_count++] = *filter;
	}
}

/* "permit out 17 from any 53 to assigned qfi=5 mbr_uplink_bps=1000000" */
static int
take(void *argument, char *entry, const char *where, struct weir_error *error)
{
	struct upf_flow_list *list = argument;
	struct upf_filter filter;
	struct flow flow = {0};
	char *word = strchr(entry, '='), *rest = NULL;
	const char *wrong;

	if (list->count == 2 * FLOWS_MAX)
		return weir_fail(error, "bad_argument", where, "7 flows at most", NULL,
				 "too many service data flows");
	while (word != NULL && word > entry && word[-1] != ' ' && word[-1] != '\t')
		word--;
	wrong = upf_filter_read(entry, word != NULL ? (size_t)(word - entry) : strlen(entry),
				&filter);
	if (wrong != NULL)
		return weir_fail(error, "bad_argument", where,
				 "an entry such as \"permit out 17 from any 53 to assigned qfi=5\"",
				 NULL, "'%s': %s", entry, wrong);
	if (word != NULL)
		word = strtok_r(word, " \t\r", &rest);
	for (; word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
		struct weir_option_value value = {.name = word};
		char *equals = strchr(word, '=');

		if (equals == NULL)
			return weir_fail(error, "bad_argument", where, "words such as qfi=5", NULL,
					 "'%s' is not a key and its value", word);
		*equals = '\0';
		value.text = equals + 1;
		if (weir_options_parse("a flow", keys, RTE_DIM(keys), &value, 1, &flow, where,
				       error) < 0)
			return -1;
	}
	add(list, &flow, &filter);
	return 0;
}

int
upf_flow_list_read(const struct upf *upf, struct upf_flow_list *list, const char *where,
		   struct weir_error *error)
{
	const struct flow others = {.qfi = upf->qfi};
	uint64_t needed;

	static_assert(FLOWS_MAX == 7, "as the message says");
	memset(list, 0, sizeof(*list));
	if (upf->flow_list[0] == '\0')
		return 0;
	if (weir_entries_each("flow_list", upf->flow_list, "", take, list, where, error) < 0)
		return -1;
	add(list, &others, NULL);
	needed = upf->session_count * list->count;
	if (needed <= upf->rules_max)
		return 0;
	return weir_fail(error, "bad_argument", where, "room for the rules of all sessions",
			 "raise rules_max", "%lu sessions with %u rules each need rules_max: %lu",
			 upf->session_count, list->count, needed);
}

void
upf_flow_list_apply(struct upf *upf, struct upf_flow_list *list, struct upf_session *session)
{
	if (list->count == 0)
		return;
	for (unsigned int i = 0; i < list->count; i++) {
		list->rule[i].gnb_ip = session->tunnel.to_ip;
		list->rule[i].gnb_teid = rte_be_to_cpu_32(session->tunnel.teid);
	}
	session->out_of.held_by |= UPF_HELD_BY_RULES;
	session->into.held_by |= UPF_HELD_BY_RULES;
	upf_rules_replace(upf, session, list->rule, list->count);
}
