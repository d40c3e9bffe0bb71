/* SPDX-License-Identifier: Apache-2.0 */
/* What a run counted, as JSON; new references. For the files of this folder. */
#ifndef WEIR_CONTROL_TRAFFIC_COUNTS_H
#define WEIR_CONTROL_TRAFFIC_COUNTS_H

#include <jansson.h>

#include "engine/loop.h"
#include "traffic/traffic.h"

/* The answer for a run that is done. `before`: the stalls of each core at its start. */
json_t *weir_traffic_counts(const struct weir_stalls *before);
/* What each stream counted up to now. */
json_t *weir_streams_counted(void);
/* Of each core, since `before`. */
json_t *weir_stalls_since(const struct weir_stalls *before);
/* The same since the start of the last run. */
json_t *weir_stalls_of_run(void);
/* From here on `traffic.interval` tells of gaps. */
void weir_gaps_forget(void);
/* Names of the ports behind which nothing is any more. */
json_t *weir_gone_ports(void);

#endif
