/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of which the n-th allocation fails: for tests of what is left then. */
#ifndef WEIR_CONTROL_ALLOCATION_FIXTURE_TEST_H
#define WEIR_CONTROL_ALLOCATION_FIXTURE_TEST_H

#include <stddef.h>

#include <jansson.h>

/* Every kind of area, and every function with as much state as it can be configured to have. */
extern const char weir_test_configure[];
#define WEIR_TEST_RESET "{'cmd':'reset'}"

/* The answer to a request, whose quotes are single here and whose CPU and FILE are words; its
 * `fails_at`th allocation fails, 0: none. FILE: the one of testing/file.h. */
json_t *weir_test_answer_to(const char *request, unsigned long fails_at);
/* Fails the test if it is refused. */
void weir_test_is_done(const char *request);
size_t weir_test_heap_bytes(void);
/* No buffer is in use, nothing was freed twice, and DPDK's heap has so much. */
void weir_test_nothing_is_left(size_t heap_bytes);
/* For every n: fails it, looks at what is left, and now and then does it `again`, unless that is
 * NULL. In the end it is done. Returns how many allocations it makes. */
unsigned long weir_test_refuse_each(const char *request, size_t heap_bytes, void (*again)(void));
/* A tear-down of cmocka: nothing is configured any more. */
int weir_test_unconfigured(void **state);

#endif
