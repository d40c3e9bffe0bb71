/* SPDX-License-Identifier: Apache-2.0 */
#include "controlled.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/controller.h"
#include "port/netns.h"
#include "dataplane.h"

#define DATAGRAM_BYTES_MAX 4096
#define DATAGRAMS_AT_ONCE 64 /* so that commands are not kept waiting */
#define QUEUED_BYTES (4 << 20)

struct controlled {
	int fd;
	const struct weir_nf *nf;
	void *begun;
	unsigned int count;
	struct weir_named_stage stages[WEIR_WORKERS_MAX];
};

static struct controlled controlled[WEIR_CONTROLLED_MAX];
static unsigned int controlled_count;

unsigned int
weir_controlled_count(void)
{
	return controlled_count;
}

int
weir_controlled_fd(unsigned int index)
{
	return controlled[index].fd;
}

static int
change(void *of, const struct weir_command *command, const void *arguments,
       struct weir_error *error)
{
	const struct controlled *one = of;

	return weir_stages_change(one->stages, one->count, command, arguments, error);
}

static void
visit(void *of, void (*with)(const void *state, void *argument), void *argument)
{
	const struct controlled *one = of;

	for (unsigned int i = 0; i < one->count; i++)
		with(one->stages[i].stage->state, argument);
}

struct wanted {
	struct weir_controller_address address;
	int fd;
};

static int
open_socket(void *argument, struct weir_error *error)
{
	struct wanted *wanted = argument;
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_addr.s_addr = wanted->address.ip,
				       .sin_port = wanted->address.port};
	const int queued_bytes = QUEUED_BYTES;
	char text[INET_ADDRSTRLEN];

	wanted->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (wanted->fd >= 0 && bind(wanted->fd, (const struct sockaddr *)&at, sizeof(at)) == 0) {
		/* As much of it as the machine allows. */
		setsockopt(wanted->fd, SOL_SOCKET, SO_RCVBUF, &queued_bytes, sizeof(queued_bytes));
		return 0;
	}
	inet_ntop(AF_INET, &wanted->address.ip, text, sizeof(text));
	weir_fail(error, "bad_argument", "stage", "an address of the namespace, and a free port",
		  "give an interface of the namespace that address",
		  "cannot listen on %s, port %u: %s", text, ntohs(wanted->address.port),
		  strerror(errno));
	if (wanted->fd >= 0)
		close(wanted->fd);
	return -1;
}

static bool
listens(const struct weir_named_stage *stage)
{
	for (unsigned int i = 0; i < controlled_count; i++) {
		if (controlled[i].stages[0].stage == stage->stage)
			return true;
	}
	return false;
}

static void
close_all(void)
{
	while (controlled_count > 0) {
		const struct controlled *one = &controlled[--controlled_count];

		close(one->fd);
		one->nf->controller->end(one->begun);
	}
}

int
weir_controlled_open(const struct weir_named_stage *stages, unsigned int count, const char *netns,
		     struct weir_error *error)
{
	const struct weir_controller *controller = stages[0].stage->nf->controller;
	struct controlled *one = &controlled[controlled_count];
	struct wanted wanted = {.fd = -1};

	if (controller == NULL || !controller->address(stages[0].stage->state, &wanted.address))
		return weir_fail(error, "bad_argument", "stage",
				 "a function whose options say where it listens", NULL,
				 "%s does not listen", stages[0].stage->nf->name);
	if (listens(stages))
		return weir_fail(error, "bad_state", "stage", NULL, NULL, "%s listens already",
				 stages[0].stage->nf->name);
	if (controlled_count == WEIR_CONTROLLED_MAX)
		return weir_fail(error, "bad_state", "stage", "8 functions at most", NULL,
				 "too many functions listen");
	*one = (struct controlled){.nf = stages[0].stage->nf, .count = count};
	memcpy(one->stages, stages, count * sizeof(stages[0]));
	if ((netns != NULL ? weir_netns_run(netns, "netns", open_socket, &wanted, error)
			   : open_socket(&wanted, error)) < 0)
		return -1;
	one->fd = wanted.fd;
	one->begun =
		controller->begin(stages[0].stage->state,
				  (struct weir_controller_way){change, visit, one}, "stage", error);
	if (one->begun == NULL) {
		close(one->fd);
		return -1;
	}
	controlled_count++;
	weir_dataplane.before_areas_go = close_all;
	return 0;
}

/* What cannot be sent is as what is lost on its way. */
static void
say(const struct controlled *one, struct weir_controller_address to, const uint8_t *datagram,
    size_t bytes)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = to.ip, .sin_port = to.port};

	sendto(one->fd, datagram, bytes, 0, (const struct sockaddr *)&at, sizeof(at));
}

void
weir_controlled_serve(unsigned int index)
{
	const struct controlled *one = &controlled[index];
	static uint8_t datagram[DATAGRAM_BYTES_MAX];

	for (unsigned int i = 0; i < DATAGRAMS_AT_ONCE; i++) {
		struct sockaddr_in from;
		socklen_t from_bytes = sizeof(from);
		const uint8_t *answer;
		size_t answer_bytes;
		const ssize_t bytes = recvfrom(one->fd, datagram, sizeof(datagram), MSG_TRUNC,
					       (struct sockaddr *)&from, &from_bytes);

		if (bytes < 0)
			return;
		/* What is longer was cut: the function sees that its lengths are wrong. */
		answer_bytes = one->nf->controller->take(
			one->begun,
			(struct weir_controller_address){from.sin_addr.s_addr, from.sin_port},
			datagram, RTE_MIN((size_t)bytes, sizeof(datagram)), &answer);
		if (answer_bytes > 0)
			say(one,
			    (struct weir_controller_address){from.sin_addr.s_addr, from.sin_port},
			    answer, answer_bytes);
	}
}

static bool
waits(const struct controlled *one)
{
	const struct weir_controller *controller = one->nf->controller;

	return controller->waits != NULL && controller->waits(one->begun);
}

int
weir_controlled_wait_ms(void)
{
	for (unsigned int i = 0; i < controlled_count; i++) {
		if (waits(&controlled[i]))
			return WEIR_CONTROLLER_MS;
	}
	return -1;
}

void
weir_controlled_speak(void)
{
	for (unsigned int i = 0; i < controlled_count; i++) {
		const struct controlled *one = &controlled[i];

		for (unsigned int said = 0; said < DATAGRAMS_AT_ONCE && waits(one); said++) {
			struct weir_controller_address to;
			const uint8_t *datagram;
			const size_t bytes = one->nf->controller->due(one->begun, &to, &datagram);

			if (bytes == 0)
				break;
			say(one, to, datagram, bytes);
		}
	}
}
