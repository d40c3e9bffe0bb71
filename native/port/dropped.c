/* SPDX-License-Identifier: Apache-2.0 */
#include "dropped.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TABLE_BYTES 16384

uint64_t
weir_dropped_in(const char *table, const char *interface)
{
	size_t length = strlen(interface);

	for (const char *line = table; line != NULL && *line != '\0';
	     line = strchr(line, '\n'), line = line != NULL ? line + 1 : NULL) {
		uint64_t dropped = 0;

		line += strspn(line, " ");
		if (strncmp(line, interface, length) != 0 || line[length] != ':')
			continue;
		/* eight columns of what was received; then bytes, packets, errs, drop */
		if (sscanf(line + length + 1,
			   "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &dropped) == 1)
			return dropped;
		return 0;
	}
	return 0;
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
	char table[TABLE_BYTES];
	ssize_t length = dropped->fd >= 0 ? pread(dropped->fd, table, sizeof(table) - 1, 0) : -1;

	if (length <= 0)
		return 0;
	table[length] = '\0';
	return weir_dropped_in(table, dropped->interface);
}
