/* SPDX-License-Identifier: Apache-2.0 */
/* What weir-lean reads and prints, as JSON. */
#ifndef WEIR_LEAN_JSON_H
#define WEIR_LEAN_JSON_H

#include <jansson.h>

#include "lean.h"
#include "machine.h"

/*
 * A request: `configure` (as weir-dp takes it), the names of `area` and `path` in it, and
 * `traffic`:
 * {"pcap": FILE} or {"stream": as traffic.configure takes it, "frames": N}. Configures this process
 * and reads the frames. -1 with `error`.
 */
int weir_lean_request(const char *file, struct weir_chain **chain, struct weir_path **path,
		      struct weir_frames *frames, struct weir_error *error);

/* What is known when a process is ready to measure. */
struct weir_lean_ready {
	double inject_cost_percent; /* of weir_slowdown_begin(); 0: nothing is injected */
	double retires_most;	    /* weir_core_retires_most() */
	bool steps;		    /* instructions can be counted */
	unsigned int first_batches; /* 0: fewer flows than a batch has packets */
	/* Of first packets: one of these, as the process was asked for. */
	const struct weir_lean_timed *first_timed;
	const struct weir_lean_stepped *first_stepped;
};

json_t *weir_lean_ready_json(const struct weir_lean *lean, const struct weir_lean_ready *ready);
json_t *weir_lean_stepped_json(const struct weir_lean *lean,
			       const struct weir_lean_stepped *stepped);
json_t *weir_lean_timed_json(const struct weir_lean *lean, const struct weir_lean_timed *timed);
json_t *weir_lean_counted_json(const struct weir_probe *probe,
			       const struct weir_lean_counted *counted, unsigned int count);
json_t *weir_machine_chase_json(size_t bytes, const struct weir_machine_series *series, bool huge);
json_t *weir_machine_transfer_json(const struct weir_machine_transfer *transfer);
/* To the other core, once. */
json_t *weir_machine_distance_json(const struct weir_machine_distance *found);

/* A line of standard output; takes the reference. */
void weir_lean_print(json_t *answer);

#endif
