/* SPDX-License-Identifier: Apache-2.0 */
/* Streams from JSON, for the files of this folder. 0 ok, -1 with `error` filled; `where` as in
 * arguments.h. */
#ifndef WEIR_CONTROL_STREAM_JSON_H
#define WEIR_CONTROL_STREAM_JSON_H

#include <jansson.h>

#include "traffic/traffic.h"

int weir_template_from_json(const json_t *object, const char *where, struct weir_template *template,
			    struct weir_error *error);
int weir_stream_from_json(const json_t *object, const char *where,
			  struct weir_stream_config *config, struct weir_error *error);

#endif
