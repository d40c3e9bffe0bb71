/* SPDX-License-Identifier: Apache-2.0 */
/* The verb that gives a stream's delays as the histogram that they were counted in. */
#include <string.h>

#include <rte_common.h>

#include "arguments.h"
#include "traffic/traffic.h"
#include "verb.h"

/* The index of the stream with that id; -1 with `error`. */
static int
stream_asked(const json_t *args, struct weir_error *error)
{
	uint64_t id = WEIR_STREAMS_MAX;

	if (weir_take_count(args, "stream", 0, WEIR_STREAMS_MAX - 1, "", &id, error) < 0)
		return -1;
	if (id == WEIR_STREAMS_MAX)
		return weir_missing("", "stream", error);
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		if (weir_stream_id(i) == id)
			return (int)i;
	}
	return weir_fail(error, "bad_argument", "stream", "the id of a configured stream", NULL,
			 "there is no stream %u", (unsigned int)id);
}

int
weir_verb_traffic_delays(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"stream", "of", NULL};
	static struct weir_bucket_ns buckets[WEIR_DELAY_BUCKETS_MAX];
	const char *of = "latency";
	unsigned int count;
	json_t *list;
	int index;

	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_string(args, "of", false, "", &of, error) < 0)
		return -1;
	index = stream_asked(args, error);
	if (index < 0)
		return -1;
	if (strcmp(of, "latency") != 0 && strcmp(of, "ipdv") != 0)
		return weir_fail(error, "bad_argument", "of", "latency or ipdv", NULL,
				 "there is no histogram of '%s'", of);
	count = weir_stream_buckets(index, of[0] == 'l' ? WEIR_DELAY_LATENCY : WEIR_DELAY_IPDV,
				    buckets, RTE_DIM(buckets));
	list = json_array();
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("[f, f, I]", buckets[i].from, buckets[i].to,
						      (json_int_t)buckets[i].count));
	*result = json_pack("{s:o}", "buckets", list);
	return 0;
}
