/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a function for what it reports. */
#ifndef WEIR_TESTING_REPORT_H
#define WEIR_TESTING_REPORT_H

#include "engine/nf.h"

/* A figure; fails the test if there is none of that name. */
uint64_t weir_test_figure(const struct weir_nf *nf, const void *state, const char *name);

/* The sum of the counters whose labels have all of these texts, which end with NULL. */
struct weir_counter weir_test_counted(const struct weir_nf *nf, const void *state,
				      const char *const *texts);

#endif
