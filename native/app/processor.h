/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this processor has what the program was built for. */
#ifndef WEIR_APP_PROCESSOR_H
#define WEIR_APP_PROCESSOR_H

#include <stdbool.h>

/*
 * Before anything else of Weir runs, which would end by an illegal instruction. False if the
 * program was built for a processor that has more; says on stderr what is missing and what to do.
 */
bool weir_processor_serves(const char *program);

#endif
