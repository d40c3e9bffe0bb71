/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "control/dataplane.h"

#define MEMORY_MIN_MB 64
#define MEMORY_MAX_MB (1 << 20)

bool
weir_start_cpus(char *text, struct weir_start *start)
{
	for (char *rest, *word = strtok_r(text, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		char *end;
		unsigned long cpu = strtoul(word, &end, 10);

		if (*word < '0' || *word > '9' || *end != '\0' || cpu >= CPU_SETSIZE ||
		    start->cpu_count == WEIR_CORES_MAX)
			return false;
		for (unsigned int i = 0; i < start->cpu_count; i++) {
			if (start->cpus[i] == cpu)
				return false;
		}
		start->cpus[start->cpu_count++] = cpu;
	}
	return start->cpu_count > 0;
}

bool
weir_start_memory(const char *text, struct weir_start *start)
{
	char *end;
	unsigned long memory_mb = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || memory_mb < MEMORY_MIN_MB ||
	    memory_mb > MEMORY_MAX_MB)
		return false;
	start->memory_mb = memory_mb;
	return true;
}

static unsigned int
huge_pages(const char *which)
{
	char path[128];
	FILE *file;
	unsigned int pages = 0;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-2048kB/%s_hugepages",
		 which);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%u", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages;
}

/* Hugepages of 2 MiB that nobody has, or was promised and has not touched yet; in MiB. */
static unsigned int
free_huge_mb(void)
{
	unsigned int reserved = huge_pages("resv"), pages = huge_pages("free");

	return pages > reserved ? (pages - reserved) * 2 : 0;
}

/* "0-3,8-8": in ranges, so that it stays short. */
static void
list_cpus(const cpu_set_t *set, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		used += snprintf(text + used, size - used, "%s%d-%d", used > 0 ? "," : "", cpu,
				 last);
		cpu = last;
	}
}

int
weir_start_dpdk(const struct weir_start *start)
{
	char lcores[4096], everywhere[2048], memory[16], limit[32];
	unsigned int lcore_of[WEIR_CORES_MAX];
	char *argv[16 + 2 * WEIR_PCI_MAX];
	int argc = 0;
	size_t used;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	list_cpus(&allowed, everywhere, sizeof(everywhere));
	used = snprintf(lcores, sizeof(lcores), "--lcores=(0-%u)@(%s)",
			start->unpinned ? start->cpu_count : 0, everywhere);
	for (unsigned int i = 0; i < start->cpu_count && used < sizeof(lcores); i++) {
		lcore_of[i] = i + 1;
		if (!start->unpinned)
			used += snprintf(lcores + used, sizeof(lcores) - used, ",%u@%u", i + 1,
					 start->cpus[i]);
	}
	weir_memory_is_huge = !start->no_huge && free_huge_mb() >= start->memory_mb;
	snprintf(memory, sizeof(memory), "%u", start->memory_mb);

	argv[argc++] = (char *)start->program;
	argv[argc++] = lcores;
	argv[argc++] = (char *)"--no-telemetry";
	argv[argc++] = (char *)"--log-level=warning";
	/* No file outlives this process either way; DPDK refuses --in-memory with --no-huge. */
	if (weir_memory_is_huge) {
		argv[argc++] = (char *)"--in-memory";
		argv[argc++] = (char *)"--single-file-segments";
	} else {
		argv[argc++] = (char *)"--no-shconf";
		argv[argc++] = (char *)"--no-huge";
	}
	/*
	 * All memory now: a heap that grows later makes virtio-user tell its vhost peer, in this
	 * process, which waits for the heap's lock: a deadlock.
	 */
	/* And not one page more: packet buffers that do not fit are refused, clearly. */
	if (weir_memory_is_huge) {
		snprintf(limit, sizeof(limit), "--socket-limit=%u", start->memory_mb);
		argv[argc++] = limit;
	}
	argv[argc++] = (char *)"-m";
	argv[argc++] = memory;
	if (start->pci_count == 0)
		argv[argc++] = (char *)"--no-pci";
	for (unsigned int i = 0; i < start->pci_count; i++) {
		argv[argc++] = (char *)"-a";
		argv[argc++] = (char *)start->pci[i];
	}
	argv[argc] = NULL;
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr,
			"%s: DPDK does not start: %s. Polling CPUs must exist and be allowed to "
			"this "
			"process; memory needs %u MiB of free hugepages or --no-huge.\n",
			start->program, rte_strerror(rte_errno), start->memory_mb);
		return -1;
	}
	return weir_cores_set(start->cpus, lcore_of, start->cpu_count);
}
