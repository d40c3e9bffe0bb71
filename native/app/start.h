/* SPDX-License-Identifier: Apache-2.0 */
/* Starting DPDK, the same way for every program of Weir. */
#ifndef WEIR_APP_START_H
#define WEIR_APP_START_H

#include <stdbool.h>

#include "engine/loop.h"

#define WEIR_PCI_MAX 32

struct weir_start {
	const char *program;
	unsigned int cpus[WEIR_CORES_MAX]; /* poll, or measure: one lcore each */
	unsigned int cpu_count;
	unsigned int memory_mb;
	bool no_huge;  /* do without hugepages even if there are enough */
	bool unpinned; /* loops run where the main lcore may, until somebody places their threads */
	const char *pci[WEIR_PCI_MAX];
	unsigned int pci_count;
};

/* Different CPU numbers such as "0,1" into `cpus`; cuts `text` up. False: it is something else. */
bool weir_start_cpus(char *text, struct weir_start *start);

/* A number of MiB, from 64 to 1,048,576, into `memory_mb`. False: it is something else. */
bool weir_start_memory(const char *text, struct weir_start *start);

/*
 * The main lcore (0) is the control thread: it may run on every CPU that this process may use.
 * Lcore i + 1 is the i-th of `cpus`. Says on stderr why DPDK does not start, and returns -1.
 */
int weir_start_dpdk(const struct weir_start *start);

#endif
