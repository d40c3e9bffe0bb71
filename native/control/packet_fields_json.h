/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a stream that change from packet to packet, as requests say them. */
#ifndef WEIR_CONTROL_PACKET_FIELDS_JSON_H
#define WEIR_CONTROL_PACKET_FIELDS_JSON_H

#include <jansson.h>

#include "traffic/traffic.h"

/* `list` may be NULL: none. -1 with `error`. */
int weir_packet_fields_from_json(const json_t *list, const char *where,
				 struct weir_stream_config *config, struct weir_error *error);

#endif
