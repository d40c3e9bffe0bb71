/* SPDX-License-Identifier: Apache-2.0 */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Enters the network namespace of that path; -1 with errno. */
static int
enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return -1;
	status = setns(fd, CLONE_NEWNET);
	close(fd);
	return status;
}

int
weir_netns_run(const char *path, const char *whose,
	       int (*run)(void *argument, struct weir_error *error), void *argument,
	       struct weir_error *error)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int status;

	if (home < 0 || enter(path) < 0) {
		status = weir_fail(error, "port_failed", whose, "the path of a network namespace",
				   "make the namespace first; entering it needs root",
				   "cannot enter network namespace %s: %s", path, strerror(errno));
	} else {
		status = run(argument, error);
		if (setns(home, CLONE_NEWNET) < 0)
			status = weir_fail(error, "port_failed", whose, NULL, NULL,
					   "cannot come back to the home namespace: %s",
					   strerror(errno));
	}
	if (home >= 0)
		close(home);
	return status;
}
