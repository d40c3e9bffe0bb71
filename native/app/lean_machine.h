/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of weir-lean that measure the machine; each returns an exit status. */
#ifndef WEIR_APP_LEAN_MACHINE_H
#define WEIR_APP_LEAN_MACHINE_H

#include "app/lean_arguments.h"

int lean_measure_distance(const struct weir_start *start);
int lean_measure_machine(const struct lean_arguments *arguments);

#endif
