/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of weir-lean's request: any text is refused with a reason, or configures a path that
 * can be measured; what it took is given back. */
#include <stdlib.h>

#include "control/dataplane.h"
#include "json.h"
#include "testing/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weir_frames frames = {0};
	struct weir_error error = {0};
	struct weir_chain *chain = NULL;
	struct weir_path *path = NULL;

	if (weir_lean_request(weir_fuzz_file(bytes, size), &chain, &path, &frames, &error) < 0) {
		if (error.code[0] == '\0' || error.message[0] == '\0')
			abort();
	} else if (chain == NULL || path == NULL || frames.count == 0) {
		abort();
	}
	weir_frames_free(&frames);
	weir_dataplane_reset();
	return 0;
}
