/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_reload.h"

#include <stdlib.h>

const struct weir_option weir_rule_reload_options[WEIR_RULE_RELOAD_OPTIONS] = {
	{
		.name = "rules",
		.type = WEIR_OPTION_FILE,
		.help = "The file; not given: the one of option `rules`, read again.",
		.offset = offsetof(struct weir_rule_reload_arguments, path),
	},
};

int
weir_rule_reload_prepare(const struct weir_rule_reload_arguments *arguments, const char *path,
			 bool default_permits, const char *where, void **prepared,
			 struct weir_error *error)
{
	struct weir_rule_reload *reload;

	if (arguments->path[0] != '\0')
		path = arguments->path;
	if (path[0] == '\0')
		return weir_fail(error, "bad_argument", where, "rules", "say which file",
				 "the function was made without a file of rules");
	reload = calloc(1, sizeof(*reload));
	if (reload == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	reload->rules = weir_rule_set_load(path, default_permits, where, error);
	if (reload->rules == NULL) {
		free(reload);
		return -1;
	}
	*prepared = reload;
	return 0;
}

void
weir_rule_reload_release(void *prepared)
{
	struct weir_rule_reload *reload = prepared;

	weir_rule_set_free(reload->rules);
	free(reload);
}
