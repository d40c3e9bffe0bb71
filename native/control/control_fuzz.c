/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the control protocol: each line of the input is a request. Whatever it says, one
 * line of JSON answers it, and afterwards everything can be taken down. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "answer.h"
#include "dataplane.h"
#include "engine/cores.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What reaches beyond this process: other kinds of ports than memory and rings, files, a core that
 * polls on. */
static bool
stays_inside(const char *line, size_t size)
{
	static const char *const outside[] = {"tap",	   "af_",      "packet_socket", "virtio",
					      "vhost",	   "devargs",  "physical",	"netns",
					      "nf.listen", "\"file\"", "\"start\"",	"\\"};

	for (unsigned int i = 0; i < RTE_DIM(outside); i++) {
		if (memmem(line, size, outside[i], strlen(outside[i])) != NULL)
			return false;
	}
	return true;
}

static void
ask(const char *line, size_t length)
{
	size_t size;
	char *text = weir_answer(line, length, &size);
	json_t *reply = json_loadb(text, size, 0, NULL);
	const json_t *ok = json_object_get(reply, "ok");

	if (text[size - 1] != '\n' || memchr(text, '\n', size) != text + size - 1)
		abort();
	if (!json_is_boolean(ok) || json_is_true(ok) == (json_object_get(reply, "error") != NULL))
		abort();
	json_decref(reply);
	free(text);
}

/* The number by which the corpus knows the core, whatever CPU this runs on: an input that
 * configures does so everywhere. */
#define CORE_NUMBER 1

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *line = (const char *)bytes, *const end = line + size;
	const unsigned int core_number = CORE_NUMBER, lcore = 1;

	if (weir_cores_set(&core_number, &lcore, 1) < 0)
		abort();
	while (line < end) {
		const char *next = memchr(line, '\n', end - line);
		const size_t length = (next != NULL ? next : end) - line;

		if (stays_inside(line, length))
			ask(line, length);
		line += length + 1;
	}
	weir_dataplane_reset();
	return 0;
}
