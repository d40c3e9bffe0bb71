/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's vhost thread is woken, and no other thread is. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/vhost_thread.h"

#define LONG_MS 10000
#define WAIT_US 1000
#define TRIES 5000

/* A thread that polls nothing, as long as nobody wakes it. */
struct sleeper {
	const char *name;
	int patience_ms;
	_Atomic int status; /* 1: not back yet */
};

static void *
sleep_in_poll(void *context)
{
	struct sleeper *sleeper = context;

	pthread_setname_np(pthread_self(), sleeper->name);
	if (poll(NULL, 0, sleeper->patience_ms) < 0)
		sleeper->status = -errno;
	else
		sleeper->status = 0;
	return NULL;
}

static void
the_vhost_thread_is_woken_from_its_poll(void **state)
{
	struct sleeper sleeper = {.name = WEIR_VHOST_THREAD, .patience_ms = LONG_MS, .status = 1};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_in_poll, &sleeper), 0);
	for (int i = 0; i < TRIES && sleeper.status == 1; i++) {
		weir_vhost_wake(); /* again: it may not have come to its poll */
		usleep(WAIT_US);
	}
	pthread_join(thread, NULL);
	assert_int_equal(sleeper.status, -EINTR);
}

static void
other_threads_are_left_alone(void **state)
{
	struct sleeper sleeper = {.name = "vhost_reconn", .patience_ms = 50, .status = 1};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_in_poll, &sleeper), 0);
	while (sleeper.status == 1) {
		weir_vhost_wake();
		usleep(WAIT_US);
	}
	pthread_join(thread, NULL);
	assert_int_equal(sleeper.status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vhost_thread_is_woken_from_its_poll),
		cmocka_unit_test(other_threads_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
