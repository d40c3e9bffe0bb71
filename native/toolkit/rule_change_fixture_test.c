/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_common.h>

#include "rule_change_fixture_test.h"
#include "testing/file.h"
#include "testing/rules.h"

#define TEXT_BYTES (1 << 20)

static char text[TEXT_BYTES];
static size_t text_bytes;

void
write_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_bytes += vsnprintf(text + text_bytes, TEXT_BYTES - text_bytes, format, arguments);
	va_end(arguments);
	text[text_bytes++] = '\n';
	text[text_bytes] = '\0';
}

void
clear_text(void)
{
	text_bytes = 0;
	text[0] = '\0';
}

const char *
changed(struct pair *pair, bool is_committed)
{
	static struct weir_error error;
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	void *prepared;
	int status;

	assert_non_null(arguments);
	snprintf(arguments->path, sizeof(arguments->path), "%s", weir_test_file(text));
	status = weir_rule_change_prepare(arguments, pair->set, "args", &prepared, &error);
	free(arguments);
	if (status < 0)
		return error.message;
	if (is_committed) {
		struct weir_rule_set *set = weir_rule_change_commit(prepared);

		pair->builds += set != pair->set;
		pair->set = set;
	}
	weir_rule_change_release(prepared);
	return NULL;
}

void
assert_agrees(struct pair *pair, unsigned int batches)
{
	assert_int_equal(pair->set->count, pair->model.count);
	assert_int_equal(pair->set->names_ports, weir_rule_model_names_ports(&pair->model));
	for (unsigned int batch = 0; batch < batches; batch++) {
		struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
		struct weir_ipv6_tuple tuple6 =
			weir_rule_model_ipv6_tuple(&pair->model, &pair->random);
		bool permits[WEIR_CLASSIFIER_BULK];

		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			tuples[i] = weir_rule_model_tuple(&pair->model, &pair->random);
		weir_rule_set_permits(pair->set, tuples, permits, WEIR_CLASSIFIER_BULK);
		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			assert_int_equal(permits[i],
					 weir_rule_model_permits(&pair->model, &tuples[i]));
		assert_int_equal(weir_rule_set_permits_ipv6(pair->set, &tuple6),
				 weir_rule_model_permits_ipv6(&pair->model, &tuple6));
	}
}

struct pair
pair_of(bool default_permits, uint64_t random)
{
	struct pair pair = {.model = {.default_permits = default_permits}, .random = random};
	struct weir_error error;
	char line[128];

	pair.set = weir_rule_set_parse(text, text_bytes, "test", default_permits, "rules", &error);
	if (pair.set == NULL)
		fail_msg("%s", error.message);
	for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
		int bytes = snprintf(line, sizeof(line), "add %.*s\n", (int)(strchr(at, '\n') - at),
				     at);

		assert_true(weir_rule_model_change(&pair.model, line, bytes));
	}
	clear_text();
	return pair;
}

void
change(struct pair *pair)
{
	const char *message = changed(pair, true);

	if (message != NULL)
		fail_msg("%s", message);
	assert_true(weir_rule_model_change(&pair->model, text, text_bytes));
	clear_text();
}

void
ends(struct pair *pair)
{
	weir_rule_set_free(pair->set);
	weir_rule_model_free(&pair->model);
}

bool
try_change(struct pair *pair, bool is_committed)
{
	bool is_done = changed(pair, is_committed) == NULL;

	if (is_committed)
		assert_int_equal(weir_rule_model_change(&pair->model, text, text_bytes), is_done);
	clear_text();
	return is_done;
}
