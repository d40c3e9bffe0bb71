/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of weir-lean. */
#ifndef WEIR_APP_LEAN_ARGUMENTS_H
#define WEIR_APP_LEAN_ARGUMENTS_H

#include <stdbool.h>

#include "app/start.h"

#define LEAN_EXIT_USAGE 2
#define LEAN_EXIT_ENVIRONMENT 3

struct lean_arguments {
	const char *request;
	char *machine;
	bool distance;
	bool step;
	unsigned int first_batches;
	char *inject;
	struct weir_start start;
};

/* Both may exit: with help or the version, or with the usage where something is wrong. */
void lean_arguments_parse(int argc, char **argv, struct lean_arguments *arguments);
void lean_arguments_refuse(void);

#endif
