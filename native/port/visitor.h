/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comes to a socket where nobody else does: DPDK's virtio-user waits for its client in accept(2),
 * without a limit and deaf to signals. A visitor that goes at once ends this with an error.
 */
#ifndef WEIR_PORT_VISITOR_H
#define WEIR_PORT_VISITOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/un.h>

struct weir_visitor {
	struct sockaddr_un address;
	unsigned int patience_ms;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ended; /* by the lock, and */
	bool came;
};

/* Connects to `path` and closes, once `patience_ms` are over. 0, or a negative errno: ENAMETOOLONG,
 * no socket can be there. */
int weir_visitor_begin(struct weir_visitor *visitor, const char *path, unsigned int patience_ms);

/* It need not come any more. Whether it did. */
bool weir_visitor_end(struct weir_visitor *visitor);

#endif
