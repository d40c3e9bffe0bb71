/* SPDX-License-Identifier: Apache-2.0 */
/* N4 as upf's descriptor has it: where it listens, and who hears a datagram. */
#include <stdlib.h>
#include <time.h>

#include "engine/controller.h"
#include "engine/report.h"
#include "agent.h"

#define UNIX_EPOCH_SINCE_1900_S 2208988800u /* RFC 5905, figure 4 */

struct n4 {
	struct upf *upf;
	struct weir_controller_way way;
	struct pfcp_agent *agent;
};

/* Changes of the agent as a command: what was checked is applied, and kept by the agent. */
static int
prepare(const void *state, const void *arguments, const char *where, void **prepared,
	struct weir_error *error)
{
	*prepared = (void *)(uintptr_t)arguments;
	return upf_changes_check(state, *prepared, where, error);
}

static void
commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	(void)cache;
	upf_changes_apply(state, prepared);
}

static const struct weir_command change_command = {
	.name = "N4",
	.prepare = prepare,
	.commit = commit,
};

static bool
change(void *of, struct upf_changes *changes)
{
	const struct n4 *n4 = of;
	struct weir_error error;

	return n4->way.change(n4->way.of, &change_command, changes, &error) == 0;
}

static bool
address(const void *state, struct weir_controller_address *address)
{
	*address = (struct weir_controller_address){
		.ip = ((const struct upf *)state)->n4_ip,
		.port = RTE_BE16(PFCP_PORT),
	};
	return address->ip != 0;
}

static void *
begin(void *state, struct weir_controller_way way, const char *where, struct weir_error *error)
{
	struct upf *upf = state;
	struct n4 *n4 = calloc(1, sizeof(*n4));

	if (n4 != NULL) {
		*n4 = (struct n4){.upf = upf, .way = way};
		n4->agent = pfcp_agent_create(upf, (struct pfcp_way){change, n4}, upf->n4_ip,
					      (uint32_t)time(NULL) + UNIX_EPOCH_SINCE_1900_S);
	}
	if (n4 == NULL || n4->agent == NULL) {
		free(n4);
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for N4");
		return NULL;
	}
	upf->agent = n4->agent;
	return n4;
}

static size_t
take(void *begun, struct weir_controller_address from, const uint8_t *datagram, size_t bytes,
     const uint8_t **answer)
{
	const struct n4 *n4 = begun;
	const struct pfcp_writer *response =
		pfcp_agent_take(n4->agent, (struct pfcp_peer){from.ip, from.port},
				(struct pfcp_span){datagram, bytes});

	if (response == NULL)
		return 0;
	*answer = response->message;
	return response->bytes;
}

static void
end(void *begun)
{
	struct n4 *n4 = begun;

	n4->upf->agent = NULL;
	pfcp_agent_free(n4->agent);
	free(n4);
}

const struct weir_controller upf_n4 = {
	.address = address,
	.begin = begin,
	.take = take,
	.end = end,
};

void
upf_n4_report(const struct upf *upf, struct weir_report *report)
{
	static const struct pfcp_counts none;
	const struct pfcp_counts *counts =
		upf->agent != NULL ? pfcp_agent_counts(upf->agent) : &none;

	report->figure(report, "n4_associations",
		       upf->agent != NULL ? pfcp_agent_associations(upf->agent) : 0);
	report->figure(report, "n4_accepted", counts->accepted);
	report->figure(report, "n4_refused", counts->refused);
	report->figure(report, "n4_repeated", counts->repeated);
	report->figure(report, "n4_not_associated", counts->not_associated);
	report->figure(report, "n4_malformed", counts->malformed);
}
