/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <unistd.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "arguments.h"
#include "dataplane.h"
#include "traffic/traffic.h"

static const char *const no_keys[] = {NULL};

static int
hello(const json_t *args, json_t **result, struct weir_error *error)
{
	json_t *cores;

	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	cores = json_array();
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
describe(const json_t *args, json_t **result, struct weir_error *error)
{
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	*result = weir_describe();
	return 0;
}

static int
start(const json_t *args, json_t **result, struct weir_error *error)
{
	(void)result;
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	if (!weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `configure` first",
				 "nothing is configured");
	weir_loops_start(&weir_dataplane.loop);
	return 0;
}

static int
stop(const json_t *args, json_t **result, struct weir_error *error)
{
	(void)result;
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	weir_loops_stop();
	weir_run_stop();
	return 0;
}

static int
reset(const json_t *args, json_t **result, struct weir_error *error)
{
	(void)result;
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	weir_dataplane_reset();
	return 0;
}

static int
ledger(const json_t *args, json_t **result, struct weir_error *error)
{
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	*result = weir_ledger();
	return 0;
}

static int
quit(const json_t *args, json_t **result, struct weir_error *error)
{
	(void)result;
	if (weir_refuse_unknown(args, "", no_keys, error) < 0)
		return -1;
	weir_quit_asked = true;
	return 0;
}

const struct weir_verb weir_verbs[] = {
	{"hello", "Version, process and clock.", hello},
	{"describe", "Network functions with their options and drop reasons.", describe},
	{"configure", "Builds ports, rings and areas, all or nothing.", weir_verb_configure},
	{"nf.command", "Changes a function while packets flow.", weir_verb_nf_command},
	{"nf.report",
	 "What a function counts by itself: figures, and counters by rule or the like.",
	 weir_verb_nf_report},
	{"trace", "Shows what becomes of frames on a path of functions.", weir_verb_trace},
	{"exchange", "Sends frames at free ports and answers what arrives at them.",
	 weir_verb_exchange},
	{"start", "Starts the polling loops.", start},
	{"stop", "Stops the polling loops, and with them a run that goes on.", stop},
	{"reset", "Stops, closes all ports and frees everything.", reset},
	{"teach", "Sends frames from every port with a MAC, for learning bridges.",
	 weir_verb_teach},
	{"traffic.configure", "Sets the streams of the generators.", weir_verb_traffic_configure},
	{"traffic.start", "Starts one run.", weir_verb_traffic_start},
	{"traffic.result", "The state of the run, and its counts when it is done.",
	 weir_verb_traffic_result},
	{"traffic.so_far", "What the streams of a run counted up to now.",
	 weir_verb_traffic_so_far},
	{"traffic.interval", "What happened in a run since the last look at it.",
	 weir_verb_traffic_interval},
	{"traffic.finish", "Ends the sending of a run before its time; it drains and has counts.",
	 weir_verb_traffic_finish},
	{"traffic.delays", "A stream's delays, or their variation, as a histogram.",
	 weir_verb_traffic_delays},
	{"ledger", "All counters of ports, areas and stages.", ledger},
	{"quit", "Ends this process.", quit},
};
const unsigned int weir_verb_count = sizeof(weir_verbs) / sizeof(weir_verbs[0]);
