/* SPDX-License-Identifier: Apache-2.0 */
#include "left_sockets.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Accepted sockets have the address of the one that listened. */
static bool
is_bound_to(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNSPEC};
	socklen_t size = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
	       address.sun_family == AF_UNIX &&
	       strncmp(address.sun_path, path, sizeof(address.sun_path)) == 0;
}

void
weir_close_left_sockets(const char *path)
{
	const struct dirent *entry;
	DIR *open = opendir("/proc/self/fd");

	if (open == NULL)
		return;
	while ((entry = readdir(open)) != NULL) {
		int fd = atoi(entry->d_name); /* of . and ..: 0, which is no such socket */

		if (is_bound_to(fd, path))
			close(fd);
	}
	closedir(open);
}
