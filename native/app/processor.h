/* SPDX-License-Identifier: Apache-2.0 */
/* What the program was built for and with, and whether this processor has that. */
#ifndef WEIR_APP_PROCESSOR_H
#define WEIR_APP_PROCESSOR_H

#include <stdbool.h>

/*
 * Before anything else of Weir runs, which would end by an illegal instruction. False if the
 * program was built for a processor that has more; says on stderr what is missing and what to do.
 */
bool weir_processor_serves(const char *program);

/* A line on stdout: "weir-dp 0.1.0 (DPDK 22.11.11, -march=x86-64-v2)", with the DPDK that it runs
 * with. */
void weir_print_version(const char *program);

#endif
