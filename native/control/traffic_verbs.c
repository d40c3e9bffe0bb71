/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic verbs: streams, a run, its result. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "capture_json.h"
#include "engine/distance.h"
#include "engine/loop.h"
#include "gaps_json.h"
#include "nap.h"
#include "slices_json.h"
#include "stream_json.h"
#include "timestamps.h"
#include "traffic/schedule.h"
#include "traffic_counts.h"
#include "verbs.h"

#define DURATION_MAX_NS (7ull * 24 * 3600 * 1000000000)
#define SLICE_MIN_NS 10000
#define PACKETS_MAX (1ull << 40) /* of one stream in a run */

/* --- streams -----------------------------------------------------------------------------------
 */

struct streams_fields {
	const json_t *streams;
};

static const struct weir_field streams_fields[] = {
	{"streams", WEIR_FIELD_LIST, true, 1, WEIR_STREAMS_MAX,
	 WEIR_INTO(struct streams_fields, streams)},
	{0},
};

struct streams {
	unsigned int count;
	struct weir_stream_config configs[WEIR_STREAMS_MAX];
};

static int
next_stream_from_json(const json_t *object, const char *where, void *target,
		      struct weir_error *error)
{
	struct streams *streams = target;
	struct weir_stream_config *next = &streams->configs[streams->count];

	if (weir_stream_from_json(object, where, next, error) < 0)
		return -1;
	for (unsigned int i = 0; i < streams->count; i++) {
		if (streams->configs[i].id == next->id)
			return weir_fail(error, "bad_argument", weir_at(where, "id").text,
					 "an id of its own", NULL, "two streams have the id %u",
					 next->id);
	}
	streams->count++;
	return 0;
}

/* By stream. NULL: no memory. */
static json_t *
captures_json(void)
{
	json_t *captures = json_object();

	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_capture_facts facts;
		char id[16];

		if (!weir_stream_captured(i, &facts))
			continue;
		snprintf(id, sizeof(id), "%u", weir_stream_id(i));
		json_object_set_new(captures, id, weir_capture_facts_json(&facts));
	}
	return captures;
}

static int
traffic_configure(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct streams_fields *fields = arguments;
	static struct streams streams;

	streams.count = 0;
	if (weir_read_each(fields->streams, "streams", next_stream_from_json, &streams, error) <
		    0 ||
	    weir_streams_configure(streams.configs, streams.count, error) < 0)
		return -1;
	*result = json_pack("{s:o}", "captures", captures_json());
	return 0;
}

const struct weir_verb weir_verb_traffic_configure = {
	"traffic.configure", "Sets the streams of the generators.", traffic_configure,
	streams_fields, sizeof(struct streams_fields)};

/* --- a run -------------------------------------------------------------------------------------
 */

struct start_fields {
	struct weir_run_options options;
	const json_t *rates_pps, *then, *others;
};

#define INTO(member) WEIR_INTO(struct start_fields, member)
#define ABSENT UINT64_MAX /* a time that cannot be given */

/* Whose delays are measured. */
static const struct weir_field delay_fields[] = {
	{"settle_ns", WEIR_FIELD_COUNT, .max = DURATION_MAX_NS, INTO(options.settle_ns)},
	{"first_packets", WEIR_FIELD_BOOL, INTO(options.first_packets)},
	{"variation", WEIR_FIELD_BOOL, INTO(options.delay_variation)},
	{"tag_ns", WEIR_FIELD_COUNT, .max = DURATION_MAX_NS, .default_value = ABSENT,
	 INTO(options.tag_ns)},
	{0},
};

static const struct weir_field start_fields[] = {
	{"duration_ns", WEIR_FIELD_COUNT, true, 1000000, DURATION_MAX_NS,
	 INTO(options.duration_ns)},
	{"rates_pps", WEIR_FIELD_JSON, true, INTO(rates_pps)},
	{"drain_ns", WEIR_FIELD_COUNT, .max = DURATION_MAX_NS, .default_value = 100000000,
	 INTO(options.drain_ns)},
	{"packets", WEIR_FIELD_COUNT, .min = 1, .max = PACKETS_MAX, INTO(options.packets)},
	{"then", WEIR_FIELD_LIST, .max = WEIR_SCHEDULE_PARTS - 1, INTO(then)},
	{"delay", WEIR_FIELD_OBJECT, .fields = delay_fields},
	{"slice_ns", WEIR_FIELD_COUNT, .min = SLICE_MIN_NS, .max = DURATION_MAX_NS,
	 INTO(options.slice_ns)},
	{"skip", WEIR_FIELD_BOOL, INTO(options.skip)},
	{"learn", WEIR_FIELD_BOOL, INTO(options.learns)},
	{"switch_cpus", WEIR_FIELD_LIST, INTO(others)},
	{0},
};

static int
read_factor(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	double factor = json_number_value(value);

	if (!json_is_number(value) || factor < 0 || factor > WEIR_RATE_MAX_PPS)
		return weir_fail(error, "bad_argument", where, "a number from 0 to 10^10", NULL,
				 "no such factor");
	*(double *)target = factor;
	return 0;
}

/* Another rate from some time on. */
static const struct weir_field change_fields[] = {
	{"after_ns", WEIR_FIELD_COUNT, true, 0, DURATION_MAX_NS,
	 WEIR_INTO(struct weir_rate_change, after_ns)},
	{"factor", WEIR_FIELD_READ, true, .read = read_factor,
	 WEIR_INTO(struct weir_rate_change, factor)},
	{0},
};

struct changes {
	struct weir_rate_change change[WEIR_SCHEDULE_PARTS - 1];
	uint32_t count;
};

static int
next_change(const json_t *object, const char *where, void *target, struct weir_error *error)
{
	struct changes *changes = target;

	return weir_read(object, where, change_fields, &changes->change[changes->count++], error);
}

static int
rate_of(const json_t *rate, const char *where, const char *id, double *rate_pps,
	struct weir_error *error)
{
	if (json_is_string(rate) && strcmp(json_string_value(rate), "max") == 0) {
		*rate_pps = 0;
		return 0;
	}
	if (!json_is_number(rate) || json_number_value(rate) < 0 ||
	    json_number_value(rate) > WEIR_RATE_MAX_PPS)
		return weir_fail(
			error, "bad_argument", weir_at(where, id).text,
			"packets a second, 10^10 at most, or \"max\"", NULL,
			rate == NULL ? "no rate for stream %s" : "no such rate for stream %s", id);
	*rate_pps = json_number_value(rate);
	return 0;
}

/* The rate of every stream, and none for another. */
static int
rates_of(const json_t *by_id, const char *where, double *rates_pps, struct weir_error *error)
{
	unsigned int count = weir_stream_count();
	char id[16];
	const char *key;
	json_t *rate;

	if (count == 0)
		return 0; /* weir_run_start() says what is missing */
	if (!json_is_object(by_id))
		return weir_fail(error, "bad_argument", where, "an object: stream to rate", NULL,
				 "'rates_pps' has the wrong type");
	for (unsigned int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "%u", weir_stream_id(i));
		if (rate_of(json_object_get(by_id, id), where, id, &rates_pps[i], error) < 0)
			return -1;
	}
	json_object_foreach((json_t *)by_id, key, rate)
	{
		unsigned int i = 0;

		for (; i < count; i++) {
			snprintf(id, sizeof(id), "%u", weir_stream_id(i));
			if (strcmp(id, key) == 0)
				break;
		}
		if (i == count)
			return weir_fail(error, "bad_argument", weir_at(where, key).text,
					 "ids of configured streams", NULL,
					 "there is no stream '%s'", key);
	}
	return 0;
}

/* CPUs of other processes whose distance is measured. */
static int
others_of(const json_t *list, unsigned int *cpus, unsigned int *count, struct weir_error *error)
{
	size_t index;
	json_t *cpu;

	json_array_foreach((json_t *)list, index, cpu)
	{
		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
		    json_integer_value(cpu) >= CPU_SETSIZE || *count == WEIR_OTHERS_MAX)
			return weir_fail(error, "bad_argument", "switch_cpus",
					 "numbers of 16 CPUs at most", NULL, "no such CPUs");
		cpus[(*count)++] = (unsigned int)json_integer_value(cpu);
	}
	return 0;
}

static int
traffic_start(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct start_fields *fields = arguments;
	double rates_pps[WEIR_STREAMS_MAX];
	struct changes changes = {0};
	struct weir_run_options options = fields->options;
	struct weir_stalls stalls[WEIR_CORES_MAX];
	unsigned int others[WEIR_OTHERS_MAX], other_count = 0;
	int number;

	options.rates_pps = rates_pps;
	options.tags = options.tag_ns != ABSENT;
	if (options.settle_ns > 0 && options.first_packets)
		return weir_fail(
			error, "bad_argument", "delay", "one of the two", NULL,
			"the first packets are sent in the time that settle_ns leaves out");
	if (rates_of(fields->rates_pps, "rates_pps", rates_pps, error) < 0 ||
	    weir_read_each(fields->then, "then", next_change, &changes, error) < 0 ||
	    others_of(fields->others, others, &other_count, error) < 0)
		return -1;
	options.then = changes.change;
	options.then_count = changes.count;
	if (weir_run_check(&options, error) < 0)
		return -1;
	weir_others_set(others, other_count);
	for (unsigned int i = 0; i < weir_core_count(); i++)
		stalls[i] = weir_core_stalls(i);
	weir_clocks_review();
	weir_clocks_follow();
	weir_slices_forget();
	number = weir_run_start(&options, error);
	if (number < 0)
		return -1;
	weir_stalls_begin(stalls);
	weir_gaps_begin();
	*result = json_pack("{s:i}", "run", number);
	return 0;
}

const struct weir_verb weir_verb_traffic_start = {"traffic.start", "Starts one run.", traffic_start,
						  start_fields, sizeof(struct start_fields)};

static int
no_run(struct weir_error *error)
{
	return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
			 "there has been no run");
}

struct result_fields {
	uint32_t wait_ms;
};

static const struct weir_field result_fields[] = {
	{"wait_ms", WEIR_FIELD_COUNT, .max = 60000, WEIR_INTO(struct result_fields, wait_ms)},
	{0},
};

static int
traffic_result(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct result_fields *fields = arguments;
	uint32_t wait_ms = fields->wait_ms;
	enum weir_run_state state;

	for (state = weir_run_poll(); state == WEIR_RUN_RUNNING && wait_ms > 0;
	     state = weir_run_poll())
		weir_nap(&wait_ms);
	if (state == WEIR_RUN_NONE)
		return no_run(error);
	*result = state == WEIR_RUN_DONE
			  ? weir_traffic_counts()
			  : json_pack("{s:s, s:i, s:o}", "state",
				      state == WEIR_RUN_RUNNING ? "running" : "stopped", "run",
				      weir_run_number(), "gone_ports", weir_gone_ports());
	return 0;
}

const struct weir_verb weir_verb_traffic_result = {
	"traffic.result", "The state of the run, and its counts when it is done.", traffic_result,
	result_fields, sizeof(struct result_fields)};

static int
traffic_so_far(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments;
	if (weir_run_poll() == WEIR_RUN_NONE)
		return no_run(error);
	*result = json_pack("{s:i, s:o, s:o, s:o}", "run", weir_run_number(), "streams",
			    weir_streams_counted(), "stalls", weir_stalls_since_start(),
			    "gone_ports", weir_gone_ports());
	return 0;
}

const struct weir_verb weir_verb_traffic_so_far = {
	"traffic.so_far", "What the streams of a run counted up to now.", traffic_so_far};
