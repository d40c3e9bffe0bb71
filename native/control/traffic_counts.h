/* SPDX-License-Identifier: Apache-2.0 */
/* What a run counted, as JSON; new references. For the files of this folder. */
#ifndef WEIR_CONTROL_TRAFFIC_COUNTS_H
#define WEIR_CONTROL_TRAFFIC_COUNTS_H

#include <jansson.h>

#include "engine/loop.h"
#include "traffic/traffic.h"

/* The answer for a run that is done. */
json_t *weir_traffic_counts(void);
/* What each stream counted up to now. */
json_t *weir_streams_counted(void);
/* A run has started; `before`: the stalls of each core until then. */
void weir_stalls_begin(const struct weir_stalls *before);
/* Of each core, since the start of the last run. */
json_t *weir_stalls_since_start(void);
json_t *weir_latency_json(const struct weir_latency_ns *latency);
/* Names of the ports behind which nothing is any more. */
json_t *weir_gone_ports(void);

#endif
