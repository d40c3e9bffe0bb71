/* SPDX-License-Identifier: Apache-2.0 */
/* The verb that gives a stream's delays as the histogram that they were counted in. */
#include <rte_common.h>

#include "traffic/traffic.h"
#include "verbs.h"

static const char *const histograms[] = {"latency", "ipdv", NULL};

struct delays_fields {
	uint32_t stream; /* its id */
	bool variation;
};

#define INTO(member) WEIR_INTO(struct delays_fields, member)

static const struct weir_field delays_fields[] = {
	{"stream", WEIR_FIELD_COUNT, true, .max = WEIR_STREAMS_MAX - 1, INTO(stream)},
	{"of", WEIR_FIELD_CHOICE, .choices = histograms, INTO(variation)},
	{0},
};

/* The index of the stream with that id; -1 with `error`. */
static int
stream_of(uint32_t id, struct weir_error *error)
{
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		if (weir_stream_id(i) == id)
			return (int)i;
	}
	return weir_fail(error, "bad_argument", "stream", "the id of a configured stream", NULL,
			 "there is no stream %u", id);
}

static int
traffic_delays(const void *arguments, json_t **result, struct weir_error *error)
{
	static struct weir_bucket_ns buckets[WEIR_DELAY_BUCKETS_MAX];
	const struct delays_fields *fields = arguments;
	int index = stream_of(fields->stream, error);
	unsigned int count;
	json_t *list;

	if (index < 0)
		return -1;
	count = weir_stream_buckets(index, fields->variation ? WEIR_DELAY_IPDV : WEIR_DELAY_LATENCY,
				    buckets, RTE_DIM(buckets));
	list = json_array();
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("[f, f, I]", buckets[i].from, buckets[i].to,
						      (json_int_t)buckets[i].count));
	*result = json_pack("{s:o}", "buckets", list);
	return 0;
}

const struct weir_verb weir_verb_traffic_delays = {
	"traffic.delays", "A stream's delays, or their variation, as a histogram.", traffic_delays,
	delays_fields, sizeof(struct delays_fields)};
