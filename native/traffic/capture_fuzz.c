/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of captures: any bytes as a file are refused, or are frames within their bounds, with
 * and without stamps. */
#include <stdlib.h>

#include "capture.h"
#include "parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
read_as(const uint8_t *bytes, size_t size, bool stamp)
{
	const struct weir_capture_wanted wanted = {.frame_bytes_max = 9220, .stamp = stamp};
	FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
	struct weir_capture capture;
	struct weir_error error;

	if (file == NULL)
		return;
	if (weir_capture_read(file, "input", &wanted, &capture, &error) < 0)
		return;
	for (uint32_t i = 0; i < capture.count; i++) {
		uint64_t length = capture.offset[i + 1] - capture.offset[i];

		if (length < 14 || length > 9216 || !(capture.gap_ns[i] >= 0))
			abort();
		if (stamp && capture.stamp_at[i] + sizeof(struct weir_stamp) > length)
			abort();
	}
	if (capture.count == 0 || (stamp && capture.stamp_at == NULL))
		abort();
	weir_capture_free(&capture);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return 0;
	read_as(bytes, size, false);
	read_as(bytes, size, true);
	return 0;
}
