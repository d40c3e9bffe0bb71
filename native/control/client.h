/* SPDX-License-Identifier: Apache-2.0 */
/* One client of the control socket: lines that come, and an answer that goes as fast as it is read.
 */
#ifndef WEIR_CONTROL_CLIENT_H
#define WEIR_CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#define WEIR_REQUEST_BYTES_MAX (4 * 1024 * 1024)

/* The answer to one line, malloc()ed, with its newline and without a 0 behind it. `line` NULL: it
 * was longer than WEIR_REQUEST_BYTES_MAX. */
typedef char *(*weir_answer_fn)(const char *line, size_t length, size_t *size);

struct weir_client {
	int fd;
	char *text; /* of a line whose end has not come, and of those behind it */
	size_t length, room;
	bool skips; /* the rest of a line that was too long */
	char *answer;
	size_t size, sent;
};

/* What to wait for, as of poll(): while an answer is not read, no more requests are. */
short weir_client_events(const struct weir_client *client);

/* Goes on as far as it can without waiting. False when the client has gone. */
bool weir_client_serve(struct weir_client *client, weir_answer_fn answer);

void weir_client_close(struct weir_client *client);

#endif
