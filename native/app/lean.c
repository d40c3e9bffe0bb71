/* SPDX-License-Identifier: Apache-2.0 */
/* weir-lean: reads its arguments, starts DPDK, measures as often as its standard input says. */
#include <rte_eal.h>

#include "app/lean_machine.h"
#include "app/lean_path.h"
#include "app/processor.h"
#include "control/dataplane.h"
#include "lean/lean.h"

int
main(int argc, char **argv)
{
	struct lean_arguments arguments = {.first_batches = WEIR_LEAN_FIRST_BATCHES,
					   .start = {.program = "weir-lean", .memory_mb = 1024}};
	int status;

	if (!weir_processor_serves("weir-lean"))
		return LEAN_EXIT_ENVIRONMENT;
	lean_arguments_parse(argc, argv, &arguments);
	if (arguments.machine != NULL)
		return lean_measure_machine(&arguments);
	if (arguments.distance)
		return lean_measure_distance(&arguments.start);
	if (weir_start_dpdk(&arguments.start) < 0)
		return LEAN_EXIT_ENVIRONMENT;
	status = lean_measure_path(&arguments);
	weir_dataplane_reset();
	rte_eal_cleanup();
	return status;
}
