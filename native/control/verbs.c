/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "dataplane.h"
#include "describe.h"
#include "ledger.h"
#include "traffic/connections/connections.h"
#include "traffic/traffic.h"

bool weir_quit_asked;

static int
hello(const void *arguments, json_t **result, struct weir_error *error)
{
	json_t *cores = json_array();

	(void)arguments, (void)error;
	for (unsigned int i = 0; i < weir_core_count(); i++)
		json_array_append_new(cores, json_integer(weir_core_number(i)));
	*result = json_pack("{s:s, s:i, s:s, s:i, s:I, s:o, s:s}", "version", WEIR_VERSION,
			    "protocol", WEIR_PROTOCOL_VERSION, "dpdk",
			    rte_version() + sizeof("DPDK ") - 1, "pid", (int)getpid(), "tsc_hz",
			    (json_int_t)rte_get_tsc_hz(), "cores", cores, "memory",
			    weir_memory_is_huge ? "hugepages" : "no-huge");
	return 0;
}

static int
describe(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)error;
	*result = weir_describe(weir_verbs_json());
	return 0;
}

static int
start(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)result;
	if (!weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `configure` first",
				 "nothing is configured");
	weir_loops_start(&weir_dataplane.loop);
	return 0;
}

static int
stop(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)result, (void)error;
	weir_loops_stop();
	weir_run_stop();
	weir_connections_stop();
	return 0;
}

static int
reset(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)result, (void)error;
	weir_dataplane_reset();
	return 0;
}

static int
ledger(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)error;
	*result = weir_ledger();
	return 0;
}

static int
quit(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)result, (void)error;
	weir_quit_asked = true;
	return 0;
}

#define OWN(name, summary, run)                                                                    \
	&(const struct weir_verb)                                                                  \
	{                                                                                          \
		name, summary, run                                                                 \
	}

static const struct weir_verb *const verbs[] = {
	OWN("hello", "Version, process and clock.", hello),
	OWN("describe", "Network functions with their options and drop reasons.", describe),
	&weir_verb_configure,
	&weir_verb_nf_command,
	&weir_verb_nf_report,
	&weir_verb_nf_listen,
	&weir_verb_trace,
	&weir_verb_exchange,
	OWN("start", "Starts the polling loops.", start),
	OWN("stop", "Stops the polling loops, and with them a run that goes on.", stop),
	OWN("reset", "Stops, closes all ports and frees everything.", reset),
	&weir_verb_announce,
	&weir_verb_traffic_configure,
	&weir_verb_traffic_start,
	&weir_verb_traffic_result,
	&weir_verb_traffic_so_far,
	&weir_verb_traffic_interval,
	&weir_verb_traffic_finish,
	&weir_verb_traffic_delays,
	&weir_verb_connections_configure,
	&weir_verb_connections_start,
	&weir_verb_connections_result,
	OWN("ledger", "All counters of ports, areas and stages.", ledger),
	OWN("quit", "Ends this process.", quit),
	NULL,
};

const struct weir_verb *
weir_verb_named(const char *name)
{
	for (const struct weir_verb *const *verb = verbs; *verb != NULL; verb++) {
		if (strcmp((*verb)->name, name) == 0)
			return *verb;
	}
	return NULL;
}

json_t *
weir_verbs_json(void)
{
	json_t *list = json_array();

	for (const struct weir_verb *const *verb = verbs; *verb != NULL; verb++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", (*verb)->name,
						      "summary", (*verb)->summary));
	return list;
}

int
weir_verb_run(const struct weir_verb *verb, const json_t *args, json_t **result,
	      struct weir_error *error)
{
	static const struct weir_field none[] = {{0}};
	void *arguments = calloc(1, verb->arguments_bytes + 1);
	int status;

	if (arguments == NULL)
		return weir_fail(error, "no_memory", NULL, NULL, NULL, "no memory");
	status = weir_read(args, "", verb->fields != NULL ? verb->fields : none, arguments, error);
	if (status == 0)
		status = verb->run(arguments, result, error);
	free(arguments);
	return status;
}
