/* SPDX-License-Identifier: Apache-2.0 */
#include "ring_check.h"

#include <jansson.h>

#include "dataplane.h"

/* Notes that areas of this core are at that end of the queues; fails where those of another are. */
static int
claim(const json_t *names, json_t *cores, unsigned int core, const char *what,
      struct weir_error *error)
{
	size_t index;
	json_t *name;

	json_array_foreach((json_t *)names, index, name)
	{
		const char *queue = json_string_value(name);
		const json_t *other = json_object_get(cores, queue);

		if (queue[0] == '\0') /* a path that ends in a sink */
			continue;
		if (other != NULL && (unsigned int)json_integer_value(other) != core)
			return weir_fail(error, "bad_argument", "areas",
					 "areas of one core at each end of a ring or port",
					 "give each of the areas a ring of its own",
					 "areas on cores %u and %u both %s '%s'",
					 (unsigned int)json_integer_value(other), core, what,
					 queue);
		json_object_set_new(cores, queue, json_integer(core));
	}
	return 0;
}

static int
claim_paths(const json_t *paths, unsigned int core, json_t *takers, json_t *givers,
	    struct weir_error *error)
{
	size_t index;
	json_t *path;

	json_array_foreach((json_t *)paths, index, path)
	{
		if (claim(json_object_get(path, "inputs"), takers, core, "take from", error) < 0 ||
		    claim(json_object_get(path, "outputs"), givers, core, "put into", error) < 0)
			return -1;
	}
	return 0;
}

int
weir_rings_check(struct weir_error *error)
{
	json_t *takers = json_object(), *givers = json_object();
	int status = 0;

	for (unsigned int i = 0; i < weir_dataplane.area_count && status == 0; i++) {
		const struct weir_placed_area *placed = &weir_dataplane.areas[i];
		json_t *paths = json_array();

		if (placed->kind->add_paths != NULL)
			placed->kind->add_paths(placed->area, paths);
		status = claim_paths(paths, placed->area->core, takers, givers, error);
		json_decref(paths);
	}
	json_decref(takers);
	json_decref(givers);
	return status;
}
