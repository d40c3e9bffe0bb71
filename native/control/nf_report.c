/* SPDX-License-Identifier: Apache-2.0 */
/* `nf.report`: what a function counts by itself, a window of it at a time. */
#include "engine/report.h"
#include "stages.h"
#include "verbs.h"

#define COUNTERS_MAX 65536

struct to_json {
	struct weir_report report; /* first */
	const char *area;	   /* name of the area whose function reports */
	json_t *figures;	   /* of that area */
	json_t *counters;
	uint64_t from, limit; /* of the counters */
	uint64_t total;
};

static void
figure(struct weir_report *report, const char *name, uint64_t value)
{
	struct to_json *json = (struct to_json *)report;

	json_object_set_new(json->figures, name, json_integer((json_int_t)value));
}

static void
counter(struct weir_report *report, const struct weir_report_label *labels,
	unsigned int label_count, const struct weir_counter *counter)
{
	struct to_json *json = (struct to_json *)report;
	uint64_t number = json->total++;
	json_t *whose;

	if (number < json->from || number - json->from >= json->limit)
		return;
	whose = json_object();
	for (unsigned int i = 0; i < label_count; i++)
		json_object_set_new(whose, labels[i].name, json_string(labels[i].text));
	json_array_append_new(json->counters,
			      json_pack("{s:s, s:o, s:I, s:I}", "area", json->area, "labels", whose,
					"packets", (json_int_t)weir_counted(&counter->packets),
					"bytes", (json_int_t)weir_counted(&counter->bytes)));
}

struct nf_report_fields {
	const char *area, *stage;
	uint64_t from, limit;
};

#define INTO(member) WEIR_INTO(struct nf_report_fields, member)

static const struct weir_field nf_report_fields[] = {
	{"area", WEIR_FIELD_STRING, true, INTO(area)},
	{"stage", WEIR_FIELD_STRING, true, INTO(stage)},
	{"from", WEIR_FIELD_COUNT, .max = UINT32_MAX, INTO(from)},
	{"limit", WEIR_FIELD_COUNT, .max = COUNTERS_MAX, .default_value = 1000, INTO(limit)},
	{0},
};

static int
nf_report(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct nf_report_fields *fields = arguments;
	struct to_json json = {
		.report = {.figure = figure, .counter = counter},
		.from = fields->from,
		.limit = fields->limit,
	};
	struct weir_named_stage stages[WEIR_WORKERS_MAX];
	int count = weir_stages_named(fields->area, fields->stage, stages, error);
	const struct weir_nf *nf;
	json_t *figures;

	if (count < 0)
		return -1;
	nf = stages[0].stage->nf;
	if (nf->report == NULL)
		return weir_fail(error, "bad_argument", "stage", "a function that reports", NULL,
				 "%s counts nothing but what the ledger has", nf->name);
	figures = json_object();
	json.counters = json_array();
	for (int i = 0; i < count; i++) {
		json.area = stages[i].chain->name;
		json.figures = json_object();
		nf->report(stages[i].stage->state, &json.report);
		json_object_set_new(figures, json.area, json.figures);
	}
	*result = json_pack("{s:o, s:o, s:I}", "figures", figures, "counters", json.counters,
			    "total", (json_int_t)json.total);
	return 0;
}

const struct weir_verb weir_verb_nf_report = {
	"nf.report", "What a function counts by itself: figures, and counters by rule or the like.",
	nf_report, nf_report_fields, sizeof(struct nf_report_fields)};
