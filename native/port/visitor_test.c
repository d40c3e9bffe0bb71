/* SPDX-License-Identifier: Apache-2.0 */
#include "port/visitor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SOON_MS 20
#define NEVER_MS 3600000

static char directory[] = "/tmp/weir-visited-XXXXXX";
static struct sockaddr_un here = {.sun_family = AF_UNIX};

static int
listen_here(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&here, sizeof(here)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void
who_waits_where_nobody_comes_is_visited_once_its_patience_is_over(void **state)
{
	struct weir_visitor visitor;
	int listens = listen_here(), client;
	char byte;

	(void)state;
	assert_int_equal(weir_visitor_begin(&visitor, here.sun_path, SOON_MS), 0);
	client = accept(listens, NULL, NULL);
	assert_true(client >= 0);
	assert_int_equal(read(client, &byte, 1), 0); /* it has gone */
	assert_true(weir_visitor_end(&visitor));
	close(client);
	close(listens);
	unlink(here.sun_path);
}

static void
who_is_told_in_time_does_not_come(void **state)
{
	struct weir_visitor visitor;
	int listens = listen_here();

	(void)state;
	assert_int_equal(weir_visitor_begin(&visitor, here.sun_path, NEVER_MS), 0);
	assert_false(weir_visitor_end(&visitor));
	assert_int_equal(setsockopt(listens, SOL_SOCKET, SO_RCVTIMEO,
				    &(struct timeval){.tv_usec = 1}, sizeof(struct timeval)),
			 0);
	assert_int_equal(accept(listens, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	close(listens);
	unlink(here.sun_path);
}

static void
a_path_that_no_socket_can_have_is_refused(void **state)
{
	char path[sizeof(here.sun_path) + 1];
	struct weir_visitor visitor;

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(weir_visitor_begin(&visitor, path, NEVER_MS), -ENAMETOOLONG);
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(weir_visitor_begin(&visitor, path, NEVER_MS), 0);
	assert_false(weir_visitor_end(&visitor));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_where_nobody_comes_is_visited_once_its_patience_is_over),
		cmocka_unit_test(who_is_told_in_time_does_not_come),
		cmocka_unit_test(a_path_that_no_socket_can_have_is_refused),
	};
	int failed;

	if (mkdtemp(directory) == NULL)
		return EXIT_FAILURE;
	snprintf(here.sun_path, sizeof(here.sun_path), "%s/here", directory);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
