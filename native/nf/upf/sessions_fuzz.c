/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of commands that change sessions: each line of the input is one, its first character
 * says which. Whatever they say, the table and the array of sessions have the same sessions, in the
 * places that their TEIDs lead to.
 */
#include <stdlib.h>
#include <string.h>

#include "testing/fuzz.h"
#include "upf.h"

extern const struct weir_nf weir_nf_upf;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
run(struct upf *upf, const char *line, size_t length)
{
	char *sessions = strndup(line + 1, length - 1);
	const struct weir_option_value value = {.name = "sessions", .text = sessions};

	if (sessions == NULL)
		abort();
	weir_fuzz_command(&weir_nf_upf, upf, upf_commands[(uint8_t)line[0] % UPF_COMMANDS].name,
			  &value, 1);
	free(sessions);
}

static void
check(const struct upf *upf)
{
	uint32_t taken = 0;

	for (uint32_t place = 0; place < upf->capacity; place++) {
		const struct upf_session *session = &upf->sessions[place];

		if (!upf_place_is_taken(upf, place))
			continue;
		taken++;
		if ((session->ue_ip != 0 &&
		     upf_session_place_of_ip(upf, session->ue_ip) != place) ||
		    (upf_has_prefix(session) &&
		     upf_session_place_of_prefix(upf, &session->prefix) != place) ||
		    (session->ue_ip == 0 && !upf_has_prefix(session)) ||
		    upf_session_at_teid(upf, session->teid) != session ||
		    ((session->into.held_by & (UPF_HELD_BY_ACTION | UPF_HELD_BY_BUFFER)) == 0 &&
		     session->tunnel.teid == 0))
			abort();
	}
	if (taken != upf->live || upf_place_is_taken(upf, upf->capacity))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weir_option_value options[] = {{"sessions", "3"}, {"sessions_max", "11"}};
	const char *line = (const char *)bytes, *const end = line + size;
	struct weir_error error;
	struct upf *upf = weir_nf_create(&weir_nf_upf, options, 2, "options", &error);

	if (upf == NULL)
		abort();
	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		if (next == NULL)
			next = end;
		if (next > line)
			run(upf, line, (size_t)(next - line));
		check(upf);
		line = next + 1;
	}
	weir_nf_destroy(&weir_nf_upf, upf);
	return 0;
}
