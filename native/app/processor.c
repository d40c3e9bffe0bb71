/* SPDX-License-Identifier: Apache-2.0 */
#include "app/processor.h"

#include <stdio.h>

#include <rte_version.h>

#include "engine/processor.h"

bool
weir_processor_serves(const char *program)
{
	bool serves = true;

	for (unsigned int i = 0; i < weir_built_for_count; i++) {
		if (rte_cpu_get_flag_enabled(weir_built_for[i]) > 0)
			continue;
		if (serves)
			fprintf(stderr, "%s: built for another processor; this one lacks", program);
		fprintf(stderr, " %s", rte_cpu_get_flag_name(weir_built_for[i]));
		serves = false;
	}
	if (!serves)
		fprintf(stderr, ": build it again with `make native`\n");
	return serves;
}

void
weir_print_version(const char *program)
{
	printf("%s " WEIR_VERSION " (%s, -march=" WEIR_MARCH ")\n", program, rte_version());
}
