/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include <stdio.h>
#include <string.h>

#include "dataplane.h"
#include "fields.h"

/* Each list ends with a kind without a name. */
extern const struct weir_area_kind weir_chain_kinds[], weir_hops_kinds[], weir_tester_kinds[];
static const struct weir_area_kind *const lists[] = {
	weir_chain_kinds,
	weir_hops_kinds,
	weir_tester_kinds,
};

static const struct weir_area_kind *
kind_named(const char *name, const char *where, struct weir_error *error)
{
	char expected[192];
	size_t used = 0;

	for (unsigned int i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (const struct weir_area_kind *kind = lists[i]; kind->name != NULL; kind++) {
			if (strcmp(kind->name, name) == 0)
				return kind;
			used += snprintf(expected + used, sizeof(expected) - used, "%s%s",
					 used == 0 ? "" : ", ", kind->name);
		}
	}
	weir_fail(error, "bad_argument", weir_at(where, "kind").text, expected, NULL,
		  "there is no kind of area '%s'", name);
	return NULL;
}

int
weir_area_from_json(const json_t *object, const char *where, void *unused, struct weir_error *error)
{
	static const struct weir_field fields[] = {WEIR_AREA_FIELDS, {0}};
	const struct weir_area_kind *kind;
	struct weir_area_head head;
	struct weir_area *area;

	(void)unused;
	if (weir_read_known(object, where, fields, &head, error) < 0)
		return -1;
	kind = kind_named(head.kind, where, error);
	if (kind == NULL)
		return -1;
	if (weir_area_named(head.name) != NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text,
				 "a name of its own", NULL, "there is an area '%s' already",
				 head.name);
	if (weir_dataplane.area_count == WEIR_AREAS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 256 areas", NULL,
				 "too many areas");
	area = kind->create(object, where, error);
	if (area == NULL)
		return -1;
	weir_dataplane.areas[weir_dataplane.area_count++] =
		(struct weir_placed_area){.kind = kind, .area = area};
	return weir_area_add(area, error);
}

int
weir_area_connect(const json_t *object, const char *where, void *unused, struct weir_error *error)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	const struct weir_placed_area *placed = weir_area_named(name);

	(void)unused;
	return placed->kind->connect != NULL
		       ? placed->kind->connect(placed->area, object, where, error)
		       : 0;
}
