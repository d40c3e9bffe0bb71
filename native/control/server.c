/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: JSON lines, one request at a time, several clients. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "answer.h"
#include "client.h"
#include "controlled.h"
#include "port/device_clock.h"
#include "server.h"
#include "timestamps.h"
#include "verbs.h"

#define CLIENTS_MAX 16
#define NO_DESCRIPTOR_MS 100

static struct weir_client clients[CLIENTS_MAX];
static unsigned int client_count;

static void
forget(unsigned int index)
{
	weir_client_close(&clients[index]);
	clients[index] = clients[--client_count];
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

/* The sooner of two times, each -1 for never. */
static int
sooner_ms(int one_ms, int other_ms)
{
	if (one_ms < 0 || other_ms < 0)
		return RTE_MAX(one_ms, other_ms);
	return RTE_MIN(one_ms, other_ms);
}

/* For how long nothing else need be done, at the most; -1: for ever. */
static int
wait_ms(bool listens)
{
	int most_ms = weir_controlled_wait_ms();

	if (weir_clocks_follow())
		most_ms = sooner_ms(most_ms, WEIR_CLOCK_FOLLOW_MS);
	return listens ? most_ms : sooner_ms(most_ms, NO_DESCRIPTOR_MS);
}

/* False where there is no descriptor, or memory, for who waits: poll would say so at once, for
 * ever. */
static bool
welcome(int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		clients[client_count++] = (struct weir_client){.fd = fd};
	return fd >= 0 ||
	       (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM);
}

int
weir_serve(const char *path, struct weir_error *error)
{
	struct pollfd polled[CLIENTS_MAX + 2 + WEIR_CONTROLLED_MAX];
	int listening = listen_on(path, error);
	bool listens = true;
	sigset_t signals;
	int signalled;

	if (listening < 0)
		return -1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	signalled = signalfd(-1, &signals, SFD_CLOEXEC);
	while (!weir_quit_asked) {
		unsigned int count = client_count, sockets = weir_controlled_count();

		polled[0] = (struct pollfd){.fd = signalled, .events = POLLIN};
		polled[1] = (struct pollfd){.fd = listens && count < CLIENTS_MAX ? listening : -1,
					    .events = POLLIN};
		for (unsigned int i = 0; i < count; i++)
			polled[i + 2] = (struct pollfd){.fd = clients[i].fd,
							.events = weir_client_events(&clients[i])};
		for (unsigned int i = 0; i < sockets; i++)
			polled[count + 2 + i] =
				(struct pollfd){.fd = weir_controlled_fd(i), .events = POLLIN};
		if (poll(polled, count + 2 + sockets, wait_ms(listens)) < 0)
			continue;
		listens = true;
		if (polled[0].revents != 0)
			break;
		for (unsigned int i = 0; i < sockets; i++) {
			if (polled[count + 2 + i].revents != 0)
				weir_controlled_serve(i);
		}
		for (unsigned int i = count; i-- > 0 && !weir_quit_asked;) {
			if (polled[i + 2].revents != 0 &&
			    !weir_client_serve(&clients[i], weir_answer))
				forget(i);
		}
		weir_controlled_speak();
		if (polled[1].revents != 0)
			listens = welcome(listening);
	}
	while (client_count > 0)
		forget(client_count - 1);
	close(signalled);
	close(listening);
	unlink(path);
	return 0;
}
