/* SPDX-License-Identifier: Apache-2.0 */
/* The processor that this was built for: nothing here runs, it can be read on any. */
#ifndef WEIR_ENGINE_PROCESSOR_H
#define WEIR_ENGINE_PROCESSOR_H

#include <rte_cpuflags.h>

/* Instructions that the compiler was free to use. */
extern const enum rte_cpu_flag_t weir_built_for[];
extern const unsigned int weir_built_for_count;

#endif
