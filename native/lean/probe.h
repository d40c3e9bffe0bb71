/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters of this thread inside a region of code, where the kernel gives them. Entering
 * and leaving the region costs some of what is counted: measure an empty region too, and subtract.
 */
#ifndef WEIR_LEAN_PROBE_H
#define WEIR_LEAN_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_PROBE_EVENTS_MAX 4

/* As perf_event_open(2) names it. */
struct weir_probe_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

struct weir_probe {
	unsigned int event_count;		 /* 0: none can be counted */
	const char *name[WEIR_PROBE_EVENTS_MAX]; /* of the events that this machine has */
	int fd[WEIR_PROBE_EVENTS_MAX];
	uint64_t begin[WEIR_PROBE_EVENTS_MAX];
	uint64_t sum[WEIR_PROBE_EVENTS_MAX];
	bool shared;	  /* other programs had the counters for a while: the sums are too small */
	char reason[128]; /* why there are no hardware counters */
};

/* Cycles and instructions in user space, and misses of the first and the last level of cache. */
extern const struct weir_probe_event weir_probe_hardware[];
extern const unsigned int weir_probe_hardware_count;

/* Opens what there is for the calling thread. Without the first two events none is of use. */
void weir_probe_open(struct weir_probe *probe, const struct weir_probe_event *events,
		     unsigned int count);
void weir_probe_close(struct weir_probe *probe);

void weir_probe_begin(struct weir_probe *probe);
void weir_probe_end(struct weir_probe *probe);
/* Ends one series of regions: `sums`, by event. The next series begins at zero. */
void weir_probe_take(struct weir_probe *probe, uint64_t *sums);
/* What the first event counted so far. False: there is no counter, or others had it meanwhile. */
bool weir_probe_core_cycles(struct weir_probe *probe, uint64_t *cycles);

#endif
