/* SPDX-License-Identifier: Apache-2.0 */
/* Streams from JSON: ports, headers, sizes, flows, pacing. */
#ifndef WEIR_CONTROL_STREAM_JSON_H
#define WEIR_CONTROL_STREAM_JSON_H

#include <jansson.h>

#include "traffic/traffic.h"

/* 0 ok, -1 with `error`; `where` as in fields.h. */
int weir_stream_from_json(const json_t *object, const char *where,
			  struct weir_stream_config *config, struct weir_error *error);

/* A weir_read_fn: a MAC address into a struct rte_ether_addr. */
int weir_read_mac(const json_t *value, const char *where, void *target, struct weir_error *error);

#endif
