/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic verbs: streams, a run, its result. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "engine/distance.h"
#include "engine/loop.h"
#include "slices_json.h"
#include "stream_json.h"
#include "timestamps.h"
#include "traffic_counts.h"
#include "verb.h"

#define DURATION_MAX_NS (7ull * 24 * 3600 * 1000000000)
#define SLICE_MIN_NS 10000
#define PACKETS_MAX (1ull << 40) /* of one stream in a run */

static struct weir_stalls stalls_before[WEIR_CORES_MAX];

json_t *
weir_stalls_of_run(void)
{
	return weir_stalls_since(stalls_before);
}

void
weir_traffic_forget(void)
{
	weir_streams_clear();
}

int
weir_verb_traffic_configure(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"streams", NULL};
	static struct weir_stream_config configs[WEIR_STREAMS_MAX];
	const json_t *list;
	char where[32];
	size_t index;
	json_t *object;

	(void)result;
	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_array(args, "streams", "", &list, error) < 0)
		return -1;
	if (json_array_size(list) == 0 || json_array_size(list) > WEIR_STREAMS_MAX)
		return weir_fail(error, "bad_argument", "streams", "1 to 64 streams", NULL,
				 "%zu streams", json_array_size(list));
	json_array_foreach((json_t *)list, index, object)
	{
		snprintf(where, sizeof(where), "streams[%zu]", index);
		if (weir_stream_from_json(object, where, &configs[index], error) < 0)
			return -1;
		for (size_t i = 0; i < index; i++) {
			if (configs[i].id == configs[index].id)
				return weir_fail(error, "bad_argument", weir_at(where, "id").text,
						 "an id of its own", NULL,
						 "two streams have the id %u", configs[i].id);
		}
	}
	return weir_streams_configure(configs, json_array_size(list), error);
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

/* The rate of every stream, and none for another. `args` are those of the request, or at `where` in
 * it. */
static int
rates_of(const json_t *args, const char *where, double *rates_pps, struct weir_error *error)
{
	const json_t *by_id = json_object_get(args, "rates_pps");
	struct weir_place place = weir_at(where, "rates_pps");
	unsigned int count = weir_stream_count();
	char id[16];
	const char *key;
	json_t *rate;

	if (by_id == NULL)
		return weir_missing(where, "rates_pps", error);
	if (count == 0)
		return 0; /* weir_run_start() says what is missing */
	if (!json_is_object(by_id))
		return weir_fail(error, "bad_argument", place.text, "an object: stream to rate",
				 NULL, "'rates_pps' has the wrong type");
	for (unsigned int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "%u", weir_stream_id(i));
		if (rate_of(json_object_get(by_id, id), place.text, id, &rates_pps[i], error) < 0)
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
			return weir_fail(error, "bad_argument", weir_at(place.text, key).text,
					 "ids of configured streams", NULL,
					 "there is no stream '%s'", key);
	}
	return 0;
}

/* Whose delays are measured. */
static int
delay_of(const json_t *args, struct weir_run_options *options, struct weir_error *error)
{
	static const char *const known[] = {"settle_ns", "first_packets", "variation", "tag_ns",
					    NULL};
	const json_t *delay = json_object_get(args, "delay");

	if (delay == NULL)
		return 0;
	if (!json_is_object(delay))
		return weir_fail(error, "bad_argument", "delay", "an object", NULL,
				 "'delay' has the wrong type");
	if (weir_refuse_unknown(delay, "delay", known, error) < 0 ||
	    weir_take_count(delay, "settle_ns", 0, DURATION_MAX_NS, "delay", &options->settle_ns,
			    error) < 0 ||
	    weir_take_bool(delay, "first_packets", "delay", &options->first_packets, error) < 0 ||
	    weir_take_bool(delay, "variation", "delay", &options->delay_variation, error) < 0 ||
	    weir_take_count(delay, "tag_ns", 0, DURATION_MAX_NS, "delay", &options->tag_ns, error) <
		    0)
		return -1;
	options->tags = json_is_integer(json_object_get(delay, "tag_ns"));
	if (options->settle_ns > 0 && options->first_packets)
		return weir_fail(
			error, "bad_argument", "delay", "one of the two", NULL,
			"the first packets are sent in the time that settle_ns leaves out");
	return 0;
}

/* The rates from some time on. */
static int
then_of(const json_t *args, double *rates_pps, struct weir_run_options *options,
	struct weir_error *error)
{
	static const char *const known[] = {"after_ns", "rates_pps", NULL};
	const json_t *then = json_object_get(args, "then");

	if (then == NULL || json_is_null(then))
		return 0;
	if (!json_is_object(then))
		return weir_fail(error, "bad_argument", "then", "an object", NULL,
				 "'then' has the wrong type");
	if (weir_refuse_unknown(then, "then", known, error) < 0 ||
	    weir_take_count(then, "after_ns", 1, DURATION_MAX_NS, "then", &options->then_after_ns,
			    error) < 0)
		return -1;
	if (options->then_after_ns == 0)
		return weir_missing("then", "after_ns", error);
	options->then_pps = rates_pps;
	return rates_of(then, "then", rates_pps, error);
}

/* CPUs of others whose distance is measured. */
static int
others_of(const json_t *args, struct weir_error *error)
{
	unsigned int cpus[WEIR_OTHERS_MAX], count = 0;
	const json_t *list;
	size_t index;
	json_t *cpu;

	if (weir_take_array(args, "others", "", &list, error) < 0)
		return -1;
	json_array_foreach((json_t *)list, index, cpu)
	{
		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
		    json_integer_value(cpu) >= CPU_SETSIZE || count == WEIR_OTHERS_MAX)
			return weir_fail(error, "bad_argument", "others",
					 "numbers of 16 CPUs at most", NULL, "no such CPUs");
		cpus[count++] = (unsigned int)json_integer_value(cpu);
	}
	weir_others_set(cpus, count);
	return 0;
}

int
weir_verb_traffic_start(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"duration_ns", "rates_pps", "drain_ns", "packets",
					    "then",	   "delay",	"slice_ns", "skip",
					    "others",	   NULL};
	struct weir_stalls stalls[WEIR_CORES_MAX];
	double rates_pps[WEIR_STREAMS_MAX], then_pps[WEIR_STREAMS_MAX];
	struct weir_run_options options = {.rates_pps = rates_pps, .drain_ns = 100000000};
	int number;

	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_count(args, "duration_ns", 1000000, DURATION_MAX_NS, "", &options.duration_ns,
			    error) < 0 ||
	    weir_take_count(args, "drain_ns", 0, DURATION_MAX_NS, "", &options.drain_ns, error) <
		    0 ||
	    weir_take_count(args, "packets", 1, PACKETS_MAX, "", &options.packets, error) < 0 ||
	    weir_take_bool(args, "skip", "", &options.skip, error) < 0 ||
	    weir_take_count(args, "slice_ns", SLICE_MIN_NS, DURATION_MAX_NS, "", &options.slice_ns,
			    error) < 0 ||
	    delay_of(args, &options, error) < 0)
		return -1;
	if (options.duration_ns == 0)
		return weir_missing("", "duration_ns", error);
	if (rates_of(args, "", rates_pps, error) < 0 ||
	    then_of(args, then_pps, &options, error) < 0 || others_of(args, error) < 0)
		return -1;
	for (unsigned int i = 0; i < weir_core_count(); i++)
		stalls[i] = weir_core_stalls(i);
	weir_clocks_review();
	weir_clocks_follow();
	weir_slices_forget();
	number = weir_run_start(&options, error);
	if (number < 0)
		return -1;
	memcpy(stalls_before, stalls, sizeof(stalls[0]) * weir_core_count());
	weir_gaps_forget();
	*result = json_pack("{s:i}", "run", number);
	return 0;
}

int
weir_verb_traffic_result(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"wait_ms", NULL};
	uint64_t wait_ms = 0;
	enum weir_run_state state;

	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_count(args, "wait_ms", 0, 60000, "", &wait_ms, error) < 0)
		return -1;
	for (state = weir_run_poll(); state == WEIR_RUN_RUNNING && wait_ms > 0;
	     state = weir_run_poll()) {
		uint64_t nap_ms = wait_ms < 5 ? wait_ms : 5;

		/* Asleep, so that the polling cores keep their CPUs. */
		usleep(nap_ms * 1000);
		wait_ms -= nap_ms;
		weir_clocks_follow();
	}
	if (state == WEIR_RUN_NONE)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
				 "there has been no run");
	*result = state == WEIR_RUN_DONE
			  ? weir_traffic_counts(stalls_before)
			  : json_pack("{s:s, s:i, s:o}", "state",
				      state == WEIR_RUN_RUNNING ? "running" : "stopped", "run",
				      weir_run_number(), "gone_ports", weir_gone_ports());
	return 0;
}

int
weir_verb_traffic_so_far(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {NULL};

	if (weir_refuse_unknown(args, "", known, error) < 0)
		return -1;
	if (weir_run_poll() == WEIR_RUN_NONE)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
				 "there has been no run");
	*result = json_pack("{s:i, s:o, s:o, s:o}", "run", weir_run_number(), "streams",
			    weir_streams_counted(), "stalls", weir_stalls_since(stalls_before),
			    "gone_ports", weir_gone_ports());
	return 0;
}
