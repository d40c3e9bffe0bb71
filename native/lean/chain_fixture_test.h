/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a lean measurement of a chain of two stages, each of which drops every second packet.
 */
#ifndef WEIR_LEAN_CHAIN_FIXTURE_TEST_H
#define WEIR_LEAN_CHAIN_FIXTURE_TEST_H

#include "lean/lean.h"

extern struct weir_frames frames; /* 1024, of 100 flows */
extern struct weir_lean lean;

/* Set-up and clean-up of a test. */
int begin(void **state);
int end(void **state);
#define WITH_CHAIN(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
