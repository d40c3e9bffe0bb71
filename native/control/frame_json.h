/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in requests and answers: bytes without FCS as small hexadecimal digits. */
#ifndef WEIR_CONTROL_FRAME_JSON_H
#define WEIR_CONTROL_FRAME_JSON_H

#include <jansson.h>
#include <rte_mbuf.h>

#include "engine/error.h"

/* Fails unless `frames` are `max` readable frames at most. */
int weir_frames_check(const json_t *frames, size_t max, const char *where,
		      struct weir_error *error);
/* A packet of a frame that was checked; NULL: no buffer for it. */
struct rte_mbuf *weir_frame_from_json(const json_t *frame, struct rte_mempool *pool);
json_t *weir_frame_to_json(const struct rte_mbuf *packet);

#endif
