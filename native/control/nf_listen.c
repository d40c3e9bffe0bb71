/* SPDX-License-Identifier: Apache-2.0 */
/* `nf.listen`: from now on others control a function by its own protocol, until `reset`. */
#include "controlled.h"
#include "verbs.h"

struct nf_listen_fields {
	const char *area, *stage, *netns;
};

#define INTO(member) WEIR_INTO(struct nf_listen_fields, member)

static const struct weir_field nf_listen_fields[] = {
	{"area", WEIR_FIELD_STRING, true, INTO(area)},
	{"stage", WEIR_FIELD_STRING, true, INTO(stage)},
	{"netns", WEIR_FIELD_STRING, INTO(netns)},
	{0},
};

static int
nf_listen(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct nf_listen_fields *fields = arguments;
	struct weir_named_stage stages[WEIR_WORKERS_MAX];
	const int count = weir_stages_named(fields->area, fields->stage, stages, error);

	(void)result;
	return count < 0 ? -1
			 : weir_controlled_open(stages, (unsigned int)count, fields->netns, error);
}

const struct weir_verb weir_verb_nf_listen = {
	"nf.listen", "Opens the socket by which others control a function.", nf_listen,
	nf_listen_fields, sizeof(struct nf_listen_fields)};
