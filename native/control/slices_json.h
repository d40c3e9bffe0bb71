/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in a run, in slices of its time, as JSON. */
#ifndef WEIR_CONTROL_SLICES_JSON_H
#define WEIR_CONTROL_SLICES_JSON_H

#include <jansson.h>

/* A run begins: what happened before is forgotten. */
void weir_slices_forget(void);
/* Of the run that has ended; NULL: the run had no slices. */
json_t *weir_slices_json(void);

#endif
