/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of weir-lean that measure a path of functions: time, plain, step, count. */
#ifndef WEIR_APP_LEAN_PATH_H
#define WEIR_APP_LEAN_PATH_H

#include "app/lean_arguments.h"

/* Carries out the lines of standard input; an exit status. DPDK has started. */
int lean_measure_path(const struct lean_arguments *arguments);

#endif
