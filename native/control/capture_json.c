/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_json.h"

json_t *
weir_capture_facts_json(const struct weir_capture_facts *facts)
{
	return json_pack("{s:I, s:f, s:i, s:f, s:f, s:f}", "frames", (json_int_t)facts->frames,
			 "mean_frame_bytes", facts->mean_frame_bytes, "frame_bytes_most",
			 facts->frame_bytes_most, "recorded_pps", facts->recorded_pps, "lead_ns",
			 facts->lead_ns, "span_ns", facts->span_ns);
}
