/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: JSON lines, one request at a time, several clients. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "port/device_clock.h"
#include "server.h"
#include "timestamps.h"
#include "verbs.h"

#define CLIENTS_MAX 16
#define REQUEST_BYTES_MAX (4 * 1024 * 1024)

struct client {
	int fd;
	char *text;
	size_t length;
	size_t room;
};

static struct client clients[CLIENTS_MAX];
static unsigned int client_count;

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

static void
answer(struct client *client, const char *line, size_t length)
{
	struct weir_error error;
	json_error_t where;
	json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &where);
	json_t *reply;
	char *text;
	size_t sent = 0, size;

	if (request == NULL) {
		weir_fail(&error, "bad_request", "request", "one JSON object a line", NULL,
			  "not JSON: %s at column %d", where.text, where.column);
		reply = failure(&error);
	} else {
		reply = run(request);
	}
	json_object_set(reply, "id",
			json_object_get(request, "id") != NULL ? json_object_get(request, "id")
							       : json_null());
	text = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	json_decref(request);
	size = strlen(text);
	text[size++] = '\n';
	while (sent < size) {
		ssize_t n = send(client->fd, text + sent, size - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* the client has gone; its next read says so */
		sent += n;
	}
	free(text);
}

static void
forget(unsigned int index)
{
	close(clients[index].fd);
	free(clients[index].text);
	clients[index] = clients[--client_count];
}

/* Reads what has come and answers every whole line of it. False when the client has gone or sends
 * too much. */
static bool
serve_client(struct client *client)
{
	char *newline;
	ssize_t n;

	if (client->length == client->room) {
		size_t room = client->room != 0 ? client->room * 2 : 65536;
		char *text = room <= REQUEST_BYTES_MAX ? realloc(client->text, room) : NULL;

		if (text == NULL)
			return false;
		client->text = text;
		client->room = room;
	}
	n = recv(client->fd, client->text + client->length, client->room - client->length, 0);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	client->length += n;
	while ((newline = memchr(client->text, '\n', client->length)) != NULL) {
		size_t line = newline - client->text;

		answer(client, client->text, line);
		client->length -= line + 1;
		memmove(client->text, newline + 1, client->length);
	}
	return true;
}

static int
listen_on(const char *path, struct weir_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return weir_fail(error, "bad_argument", "--socket", "a path shorter than 108 bytes",
				 NULL, "the socket's path is too long: %s", path);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	umask(0077);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 8) < 0) {
		weir_fail(error, "bad_argument", "--socket", "a path that does not exist yet",
			  "remove the old socket, or choose another path",
			  "cannot listen on %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int
weir_serve(const char *path, struct weir_error *error)
{
	struct pollfd polled[CLIENTS_MAX + 2];
	int listening = listen_on(path, error);
	sigset_t signals;
	int signalled;

	if (listening < 0)
		return -1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	signalled = signalfd(-1, &signals, SFD_CLOEXEC);
	while (!weir_quit_asked) {
		unsigned int count = client_count;

		polled[0] = (struct pollfd){.fd = signalled, .events = POLLIN};
		polled[1] = (struct pollfd){.fd = count < CLIENTS_MAX ? listening : -1,
					    .events = POLLIN};
		for (unsigned int i = 0; i < count; i++)
			polled[i + 2] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		if (poll(polled, count + 2, weir_clocks_follow() ? WEIR_CLOCK_FOLLOW_MS : -1) < 0)
			continue;
		if (polled[0].revents != 0)
			break;
		for (unsigned int i = count; i-- > 0 && !weir_quit_asked;) {
			if (polled[i + 2].revents != 0 && !serve_client(&clients[i]))
				forget(i);
		}
		if (polled[1].revents != 0) {
			int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

			if (fd >= 0)
				clients[client_count++] = (struct client){.fd = fd};
		}
	}
	while (client_count > 0)
		forget(client_count - 1);
	close(signalled);
	close(listening);
	unlink(path);
	return 0;
}
