/* SPDX-License-Identifier: Apache-2.0 */
#include "dropped.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PART_BYTES 8192 /* more than a page, as the kernel gives it at once: some 30 lines */

bool
weir_dropped_in(const char *table, const char *interface, uint64_t *dropped)
{
	size_t length = strlen(interface);

	for (const char *line = table; line != NULL && *line != '\0';
	     line = strchr(line, '\n'), line = line != NULL ? line + 1 : NULL) {
		line += strspn(line, " ");
		if (strncmp(line, interface, length) != 0 || line[length] != ':')
			continue;
		/* eight columns of what was received; then bytes, packets, errs, drop */
		return sscanf(line + length + 1,
			      "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, dropped) == 1;
	}
	return false;
}

void
weir_dropped_open(struct weir_dropped *dropped, const char *interface)
{
	/* the file stays that of the namespace in which it was opened */
	dropped->fd = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
	snprintf(dropped->interface, sizeof(dropped->interface), "%s", interface);
}

void
weir_dropped_close(struct weir_dropped *dropped)
{
	if (dropped->fd >= 0)
		close(dropped->fd);
	dropped->fd = -1;
}

uint64_t
weir_dropped_read(const struct weir_dropped *dropped)
{
	char part[PART_BYTES];
	size_t kept = 0; /* of a line whose end is not read yet */
	off_t at = 0;

	for (;;) {
		ssize_t more = pread(dropped->fd, part + kept, sizeof(part) - 1 - kept, at);
		uint64_t found;
		char *end;

		if (more <= 0)
			return 0;
		at += more;
		part[kept + more] = '\0';
		end = strrchr(part, '\n');
		if (end == NULL)
			return 0;
		*end = '\0';
		if (weir_dropped_in(part, dropped->interface, &found))
			return found;
		kept = strlen(end + 1);
		memmove(part, end + 1, kept);
	}
}
