/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "engine/report.h"

struct listener {
	struct weir_report report; /* first */
	const char *name;
	bool found;
	uint64_t value;
	const char *const *texts;
	struct weir_counter sum;
};

static void
hear_figure(struct weir_report *report, const char *name, uint64_t value)
{
	struct listener *listener = (struct listener *)report;

	if (listener->name != NULL && strcmp(listener->name, name) == 0) {
		listener->found = true;
		listener->value = value;
	}
}

static bool
has_label(const struct weir_report_label *labels, unsigned int count, const char *text)
{
	for (unsigned int i = 0; i < count; i++) {
		if (strcmp(labels[i].text, text) == 0)
			return true;
	}
	return false;
}

static void
hear_counter(struct weir_report *report, const struct weir_report_label *labels,
	     unsigned int label_count, const struct weir_counter *counter)
{
	struct listener *listener = (struct listener *)report;

	for (const char *const *text = listener->texts; text != NULL && *text != NULL; text++) {
		if (!has_label(labels, label_count, *text))
			return;
	}
	listener->sum.packets += counter->packets;
	listener->sum.bytes += counter->bytes;
}

uint64_t
weir_test_figure(const struct weir_nf *nf, const void *state, const char *name)
{
	struct listener listener = {.report = {hear_figure, hear_counter}, .name = name};

	nf->report(state, &listener.report);
	assert_true(listener.found);
	return listener.value;
}

struct weir_counter
weir_test_counted(const struct weir_nf *nf, const void *state, const char *const *texts)
{
	struct listener listener = {.report = {hear_figure, hear_counter}, .texts = texts};

	nf->report(state, &listener.report);
	return listener.sum;
}
