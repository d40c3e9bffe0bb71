/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of changes: an input is texts with a byte of 0 between them, of a file's rules and
 * then of one change after another. After each the rules decide as an array of rules does that was
 * changed the slow, obvious way, or both refused it. */
#include <stdlib.h>
#include <string.h>

#include "rule_change.h"
#include "testing/fuzz.h"
#include "testing/rule_model.h"
#include "testing/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
compare(const struct weir_rule_set *set, const struct weir_rule_model *model, uint64_t random)
{
	struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
	bool permits[WEIR_CLASSIFIER_BULK];

	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
		tuples[i] = weir_rule_model_tuple(model, &random);
	weir_rule_set_permits(set, tuples, permits, WEIR_CLASSIFIER_BULK);
	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++) {
		const struct weir_ipv6_tuple ipv6 = weir_rule_model_ipv6_tuple(model, &random);

		if (permits[i] != weir_rule_model_permits(model, &tuples[i]) ||
		    weir_rule_set_permits_ipv6(set, &ipv6) !=
			    weir_rule_model_permits_ipv6(model, &ipv6))
			abort();
	}
	if (set->count != model->count || set->names_ports != weir_rule_model_names_ports(model))
		abort();
}

/* The set that is there then. Some changes are prepared and not committed. */
static struct weir_rule_set *
change(struct weir_rule_set *set, struct weir_rule_model *model, const uint8_t *bytes, size_t size)
{
	static struct weir_rule_change_arguments arguments;
	struct weir_error error;
	bool is_committed = size % 4 != 0;
	void *prepared;

	strcpy(arguments.path, weir_fuzz_file(bytes, size));
	if (weir_rule_change_prepare(&arguments, set, "args", &prepared, &error) < 0) {
		if (weir_rule_model_change(model, (const char *)bytes, size))
			abort();
		return set;
	}
	if (is_committed) {
		set = weir_rule_change_commit(prepared);
		if (!weir_rule_model_change(model, (const char *)bytes, size))
			abort();
	}
	weir_rule_change_release(prepared);
	return set;
}

/* The lines of a file as lines of a change. */
static bool
read_model(struct weir_rule_model *model, const uint8_t *bytes, size_t size)
{
	char *lines = malloc(5 * size + 8);
	size_t used = 0;
	bool begins = true, is_read;

	if (lines == NULL)
		abort();
	for (size_t i = 0; i < size; i++) {
		/* Before the first word of a line that has one. */
		if (begins && strchr(" \t\r\n#", bytes[i]) == NULL) {
			memcpy(lines + used, "add ", 4);
			used += 4;
			begins = false;
		}
		if (bytes[i] == '\n' || bytes[i] == '#')
			begins = bytes[i] == '\n';
		lines[used++] = (char)bytes[i];
	}
	is_read = weir_rule_model_change(model, lines, used);
	free(lines);
	return is_read;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = memchr(bytes, 0, size);
	size_t length = end != NULL ? (size_t)(end - bytes) : size;
	struct weir_rule_model model = {0};
	struct weir_error error;
	struct weir_rule_set *set;

	set = weir_rule_set_parse((const char *)bytes, length, "fuzz", false, "rules", &error);
	if (set == NULL)
		return 0;
	if (!read_model(&model, bytes, length))
		abort();
	while (end != NULL) {
		size -= length + 1;
		bytes = end + 1;
		end = memchr(bytes, 0, size);
		length = end != NULL ? (size_t)(end - bytes) : size;
		set = change(set, &model, bytes, length);
		compare(set, &model, size + 1);
	}
	weir_rule_set_free(set);
	weir_rule_model_free(&model);
	return 0;
}
