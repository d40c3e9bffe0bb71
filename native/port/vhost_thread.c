/* SPDX-License-Identifier: Apache-2.0 */
#include "vhost_thread.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
end_a_poll(int signal)
{
	(void)signal;
}

/* Whether the thread with that number, in digits, is the one that serves vhost-user. */
static bool
serves_vhost(const char *thread)
{
	char path[NAME_MAX + 32];
	char name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", thread);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	if (fgets(name, sizeof(name), file) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return strcmp(name, WEIR_VHOST_THREAD) == 0;
}

void
weir_vhost_wake(void)
{
	const struct sigaction action = {.sa_handler = end_a_poll};
	const struct dirent *thread;
	DIR *threads = opendir("/proc/self/task");

	if (threads == NULL)
		return;
	sigaction(SIGUSR1, &action, NULL);
	while ((thread = readdir(threads)) != NULL) {
		if (serves_vhost(thread->d_name))
			syscall(SYS_tgkill, getpid(), atoi(thread->d_name), SIGUSR1);
	}
	closedir(threads);
}
