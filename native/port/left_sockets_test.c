/* SPDX-License-Identifier: Apache-2.0 */
#include "port/left_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/weir-left-XXXXXX";
static struct sockaddr_un left = {.sun_family = AF_UNIX}, other = {.sun_family = AF_UNIX};

static int
listen_at(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int
connect_to(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Whether whoever was at the other end has gone. */
static bool
is_hung_up(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno == ECONNRESET);
}

static void
clients_of_a_socket_that_was_left_are_hung_up_on_accepted_or_not_and_no_others(void **state)
{
	int listens = listen_at(&left), accepted_client = connect_to(&left);
	int accepted = accept(listens, NULL, NULL), waiting_client = connect_to(&left);
	int others = listen_at(&other), others_client = connect_to(&other);

	(void)state;
	assert_int_equal(unlink(left.sun_path), 0);
	assert_false(is_hung_up(accepted_client) || is_hung_up(waiting_client));
	weir_close_left_sockets(left.sun_path);
	assert_false(is_open(listens) || is_open(accepted));
	assert_true(is_hung_up(accepted_client) && is_hung_up(waiting_client));
	assert_true(is_open(others) && is_open(others_client));
	assert_false(is_hung_up(others_client));
	close(accepted_client);
	close(waiting_client);
	close(others_client);
	close(others);
	unlink(other.sun_path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			clients_of_a_socket_that_was_left_are_hung_up_on_accepted_or_not_and_no_others),
	};
	int failed;

	if (mkdtemp(directory) == NULL)
		return EXIT_FAILURE;
	snprintf(left.sun_path, sizeof(left.sun_path), "%s/left", directory);
	snprintf(other.sun_path, sizeof(other.sun_path), "%s/left2", directory);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
