/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM_FIRST 65536

short
weir_client_events(const struct weir_client *client)
{
	return client->answer != NULL ? POLLOUT : POLLIN;
}

/* False when the client has gone. */
static bool
flush(struct weir_client *client)
{
	while (client->answer != NULL) {
		ssize_t n = send(client->fd, client->answer + client->sent,
				 client->size - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		client->sent += (size_t)n;
		if (client->sent == client->size) {
			free(client->answer);
			client->answer = NULL;
		}
	}
	return true;
}

static bool
reply(struct weir_client *client, weir_answer_fn answer, const char *line, size_t length)
{
	client->sent = 0;
	client->answer = answer(line, length, &client->size);
	return flush(client);
}

static void
drop(struct weir_client *client, size_t length)
{
	client->length -= length;
	memmove(client->text, client->text + length, client->length);
}

static bool
answer_lines(struct weir_client *client, weir_answer_fn answer)
{
	char *newline;

	while (client->answer == NULL && client->length > 0 &&
	       (newline = memchr(client->text, '\n', client->length)) != NULL) {
		size_t length = (size_t)(newline - client->text);
		bool there = client->skips || reply(client, answer, client->text, length);

		client->skips = false;
		drop(client, length + 1);
		if (!there)
			return false;
	}
	if (client->skips)
		client->length = 0;
	return true;
}

/* Reads what has come. False when the client has gone, or there is no memory. */
static bool
take(struct weir_client *client)
{
	ssize_t n;

	if (client->length == client->room) {
		size_t room = client->room != 0 ? client->room * 2 : ROOM_FIRST;
		char *text = realloc(client->text, room);

		if (text == NULL)
			return false;
		client->text = text;
		client->room = room;
	}
	n = recv(client->fd, client->text + client->length, client->room - client->length,
		 MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	client->length += (size_t)n;
	return true;
}

bool
weir_client_serve(struct weir_client *client, weir_answer_fn answer)
{
	if (!flush(client))
		return false;
	if (client->answer != NULL)
		return true;
	if (!take(client) || !answer_lines(client, answer))
		return false;
	if (client->answer == NULL && client->length >= WEIR_REQUEST_BYTES_MAX) {
		client->skips = true;
		client->length = 0;
		return reply(client, answer, NULL, 0);
	}
	return true;
}

void
weir_client_close(struct weir_client *client)
{
	close(client->fd);
	free(client->text);
	free(client->answer);
}
