/* SPDX-License-Identifier: Apache-2.0 */
/* The one file of a test program: rules, routes and whatever else functions read. */
#ifndef WEIR_TESTING_FILE_H
#define WEIR_TESTING_FILE_H

/* Where it is; the same each time. */
const char *weir_test_path(void);
/* Writes `text` to it, in place of what was there, and returns where it is. Fails the test if that
 * fails. */
const char *weir_test_file(const char *text);
/* A group tear-down of cmocka: removes it, if there is one. */
int weir_test_file_remove(void **state);

#endif
