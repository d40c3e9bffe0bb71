/* SPDX-License-Identifier: Apache-2.0 */
#include "app/lean_machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/distance.h"
#include "lean/json.h"

static int
run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "weir-lean: this process may not run on CPU %u\n", cpu);
	return LEAN_EXIT_ENVIRONMENT;
}

/* Of cores on which others poll: they stand still for that time, if this process may do that. */
int
lean_measure_distance(const struct weir_start *start)
{
	const struct sched_param priority = {.sched_priority = WEIR_ABOVE_POLLING};
	struct weir_machine_distance found;

	if (run_on(start->cpus[0]) != EXIT_SUCCESS)
		return LEAN_EXIT_ENVIRONMENT;
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	if (weir_machine_distance(start->cpus[1], &found) != 0) {
		fprintf(stderr, "weir-lean: this process may not run on CPU %u\n", start->cpus[1]);
		return LEAN_EXIT_ENVIRONMENT;
	}
	weir_lean_print(weir_machine_distance_json(&found));
	return EXIT_SUCCESS;
}

int
lean_measure_machine(const struct lean_arguments *arguments)
{
	const struct weir_start *start = &arguments->start;
	struct weir_machine_transfer transfer;

	if (run_on(start->cpus[0]) != EXIT_SUCCESS)
		return LEAN_EXIT_ENVIRONMENT;
	for (char *rest, *word = strtok_r(arguments->machine, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		size_t bytes = strtoull(word, NULL, 10);
		struct weir_machine_series series;
		bool huge;

		if (bytes < 4096)
			lean_arguments_refuse();
		if (weir_machine_chase(bytes, &series, &huge) == 0)
			weir_lean_print(weir_machine_chase_json(bytes, &series, huge));
	}
	if (start->cpu_count > 1 && weir_machine_transfers(start->cpus[1], &transfer) == 0)
		weir_lean_print(weir_machine_transfer_json(&transfer));
	return EXIT_SUCCESS;
}
