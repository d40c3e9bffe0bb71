/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <string.h>

#include "verbs.h"

static json_t *
failure(const struct weir_error *error)
{
	return json_pack("{s:b, s:{s:s, s:s, s:s, s:s, s:s}}", "ok", 0, "error", "code",
			 error->code, "message", error->message, "where", error->where, "expected",
			 error->expected, "fix", error->fix);
}

struct request_fields {
	const json_t *id, *args;
	const char *cmd;
};

#define INTO(member) WEIR_INTO(struct request_fields, member)

static const struct weir_field request_fields[] = {
	{"id", WEIR_FIELD_JSON, INTO(id)},
	{"cmd", WEIR_FIELD_STRING, INTO(cmd)},
	{"args", WEIR_FIELD_JSON, INTO(args)},
	{0},
};

static json_t *
run(const json_t *request)
{
	struct request_fields fields;
	struct weir_error error = {0};
	const struct weir_verb *verb = NULL;
	json_t *empty, *result = NULL;
	int status;

	if (weir_read(request, "request", request_fields, &fields, &error) < 0)
		return failure(&error);
	if (fields.cmd != NULL)
		verb = weir_verb_named(fields.cmd);
	if (verb == NULL) {
		weir_fail(&error, "bad_request", "cmd", "a command that --describe lists", NULL,
			  "there is no command '%s'", fields.cmd != NULL ? fields.cmd : "");
		return failure(&error);
	}
	empty = json_object();
	status = weir_verb_run(verb, fields.args != NULL ? fields.args : empty, &result, &error);
	json_decref(empty);
	if (status < 0)
		return failure(&error);
	return json_pack("{s:b, s:o}", "ok", 1, "result", result != NULL ? result : json_object());
}

static json_t *
reply_to(json_t *request, const json_error_t *where)
{
	struct weir_error error;

	if (request != NULL)
		return run(request);
	weir_fail(&error, "bad_request", "request", "one JSON object a line", NULL,
		  "not JSON: %s at column %d", where->text, where->column);
	return failure(&error);
}

static json_t *
too_long(void)
{
	struct weir_error error;

	weir_fail(&error, "bad_request", "request", "one JSON object a line, of 4 MiB at most",
		  NULL, "a request of more than 4 MiB was left out");
	return failure(&error);
}

char *
weir_answer(const char *line, size_t length, size_t *size)
{
	json_error_t where;
	json_t *request =
		line != NULL ? json_loadb(line, length, JSON_REJECT_DUPLICATES, &where) : NULL;
	json_t *reply = line != NULL ? reply_to(request, &where) : too_long();
	char *text;

	json_object_set(reply, "id",
			json_object_get(request, "id") != NULL ? json_object_get(request, "id")
							       : json_null());
	text = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	json_decref(request);
	*size = strlen(text) + 1;
	text[*size - 1] = '\n'; /* in place of the 0 */
	return text;
}
