/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture is, as JSON: where streams are set, and of a file alone. */
#ifndef WEIR_CONTROL_CAPTURE_JSON_H
#define WEIR_CONTROL_CAPTURE_JSON_H

#include <jansson.h>

#include "traffic/traffic.h"

/* A new reference; NULL: no memory. */
json_t *weir_capture_facts_json(const struct weir_capture_facts *facts);

#endif
