/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <rte_common.h>

#define CACHE_READ_MISS(level)                                                                     \
	((level) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

const struct weir_probe_event weir_probe_hardware[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"l1d_misses", PERF_TYPE_HW_CACHE, CACHE_READ_MISS(PERF_COUNT_HW_CACHE_L1D)},
	{"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};
const unsigned int weir_probe_hardware_count = RTE_DIM(weir_probe_hardware);

static int
open_event(const struct weir_probe_event *event, int group)
{
	struct perf_event_attr attributes = {
		.type = event->type,
		.size = sizeof(attributes),
		.config = event->config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = 1, /* all that an ordinary user may see */
		.exclude_hv = 1,
	};

	return syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* One system call for all, so that they are of the same moment. */
static void
read_all(struct weir_probe *probe, uint64_t *values)
{
	struct {
		uint64_t count, enabled, running;
		uint64_t value[WEIR_PROBE_EVENTS_MAX];
	} group;

	memset(&group, 0, sizeof(group));
	if (read(probe->fd[0], &group, sizeof(group)) < 0 || group.enabled != group.running)
		probe->shared = true;
	memcpy(values, group.value, probe->event_count * sizeof(*values));
}

void
weir_probe_open(struct weir_probe *probe, const struct weir_probe_event *events, unsigned int count)
{
	memset(probe, 0, sizeof(*probe));
	for (unsigned int i = 0; i < count; i++) {
		int fd = open_event(&events[i], i == 0 ? -1 : probe->fd[0]);

		if (fd >= 0) {
			probe->fd[probe->event_count] = fd;
			probe->name[probe->event_count++] = events[i].name;
			continue;
		}
		if (i < 2) {
			snprintf(probe->reason, sizeof(probe->reason), "no counter of %s: %s",
				 events[i].name, strerror(errno));
			weir_probe_close(probe);
			return;
		}
	}
}

void
weir_probe_close(struct weir_probe *probe)
{
	while (probe->event_count > 0)
		close(probe->fd[--probe->event_count]);
}

void
weir_probe_begin(struct weir_probe *probe)
{
	if (probe->event_count > 0)
		read_all(probe, probe->begin);
}

void
weir_probe_end(struct weir_probe *probe)
{
	uint64_t end[WEIR_PROBE_EVENTS_MAX];

	if (probe->event_count == 0)
		return;
	read_all(probe, end);
	for (unsigned int i = 0; i < probe->event_count; i++)
		probe->sum[i] += end[i] - probe->begin[i];
}

void
weir_probe_take(struct weir_probe *probe, uint64_t *sums)
{
	memcpy(sums, probe->sum, sizeof(probe->sum));
	memset(probe->sum, 0, sizeof(probe->sum));
}

bool
weir_probe_core_cycles(struct weir_probe *probe, uint64_t *cycles)
{
	uint64_t values[WEIR_PROBE_EVENTS_MAX];

	if (probe->event_count == 0)
		return false;
	read_all(probe, values);
	*cycles = values[0];
	return !probe->shared;
}
