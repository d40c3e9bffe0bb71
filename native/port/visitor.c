/* SPDX-License-Identifier: Apache-2.0 */
#include "visitor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS_IN_S 1000u
#define NS_IN_MS 1000000L
#define NS_IN_S 1000000000L

static void
visit(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void)connect(fd, (const struct sockaddr *)address, sizeof(*address));
	close(fd);
}

static void *
wait_and_visit(void *argument)
{
	struct weir_visitor *visitor = argument;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += visitor->patience_ms / MS_IN_S;
	until.tv_nsec += visitor->patience_ms % MS_IN_S * NS_IN_MS;
	until.tv_sec += until.tv_nsec / NS_IN_S;
	until.tv_nsec %= NS_IN_S;
	pthread_mutex_lock(&visitor->lock);
	while (!visitor->ended) {
		if (pthread_cond_timedwait(&visitor->changed, &visitor->lock, &until) == ETIMEDOUT)
			break;
	}
	if (!visitor->ended) {
		visitor->came = true;
		visit(&visitor->address);
	}
	pthread_mutex_unlock(&visitor->lock);
	return NULL;
}

int
weir_visitor_begin(struct weir_visitor *visitor, const char *path, unsigned int patience_ms)
{
	pthread_condattr_t attributes;
	int error;

	if (strlen(path) >= sizeof(visitor->address.sun_path))
		return -ENAMETOOLONG;
	*visitor = (struct weir_visitor){
		.address = {.sun_family = AF_UNIX},
		.patience_ms = patience_ms,
	};
	strcpy(visitor->address.sun_path, path);
	pthread_mutex_init(&visitor->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&visitor->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	error = pthread_create(&visitor->thread, NULL, wait_and_visit, visitor);
	if (error != 0) {
		pthread_cond_destroy(&visitor->changed);
		pthread_mutex_destroy(&visitor->lock);
	}
	return -error;
}

bool
weir_visitor_end(struct weir_visitor *visitor)
{
	pthread_mutex_lock(&visitor->lock);
	visitor->ended = true;
	pthread_cond_signal(&visitor->changed);
	pthread_mutex_unlock(&visitor->lock);
	pthread_join(visitor->thread, NULL);
	pthread_cond_destroy(&visitor->changed);
	pthread_mutex_destroy(&visitor->lock);
	return visitor->came;
}
