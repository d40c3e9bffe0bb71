/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_ANSWER_H
#define WEIR_CONTROL_ANSWER_H

#include <stddef.h>

/*
 * What weir-dp answers to one line of the control protocol, whatever is in it: a line of JSON of
 * `*size` bytes, its end included and without a 0, for the caller to free. `line` NULL: one that
 * was too long to be kept.
 */
char *weir_answer(const char *line, size_t length, size_t *size);

#endif
