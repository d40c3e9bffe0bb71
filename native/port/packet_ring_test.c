/* SPDX-License-Identifier: Apache-2.0 */
/* Frames longer than a place of the ring: each place gets its own, whatever the socket says first.
 * The ring is memory of the test's, and a socket pair has the frames that the kernel queued. */
#include "port/packet_socket.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/port.h"
#include "testing/eal.h"

#define PLACES 4
#define FRAME_BYTES 2000

struct fixture {
	struct packet_ring ring;
	int kernel_fd; /* its end of the pair */
	unsigned int announced;
};

/* What the next calls of recvmsg() fail with, the last one first. */
static int pending_errors[4];
static unsigned int pending_count;

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

ssize_t
__wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	if (pending_count > 0) {
		errno = pending_errors[--pending_count];
		return -1;
	}
	return __real_recvmsg(fd, message, flags);
}

static void
fail_next(int error)
{
	pending_errors[pending_count++] = error;
}

static int
begin(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int ends[2];

	if (fixture == NULL || socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
		return -1;
	pending_count = 0;
	fixture->kernel_fd = ends[1];
	fixture->ring = (struct packet_ring){
		.fd = ends[0],
		.frames = calloc(PLACES, WEIR_ROOM_BYTES),
		.place_bytes = WEIR_ROOM_BYTES,
		.frame_count = PLACES,
		.long_frame = malloc(UINT16_MAX + 64),
		.mempool = weir_test_pool(),
		.room_bytes = WEIR_ROOM_BYTES,
	};
	*state = fixture;
	return 0;
}

static int
end(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->ring.fd);
	close(fixture->kernel_fd);
	free(fixture->ring.frames);
	free(fixture->ring.long_frame);
	free(fixture);
	return 0;
}

/* A place that says that its frame is queued at the socket. */
static void
announce(struct fixture *fixture)
{
	struct tpacket2_hdr *place =
		(void *)(fixture->ring.frames + (size_t)fixture->announced++ * WEIR_ROOM_BYTES);

	*place = (struct tpacket2_hdr){
		.tp_status = TP_STATUS_USER | TP_STATUS_COPY,
		.tp_len = FRAME_BYTES,
		.tp_snaplen = 1900,
		.tp_mac = TPACKET_ALIGN(TPACKET2_HDRLEN),
	};
}

/* All bytes of the frame are `number`. */
static void
queue(struct fixture *fixture, uint8_t number)
{
	uint8_t queued[sizeof(struct virtio_net_hdr) + FRAME_BYTES] = {0};

	memset(queued + sizeof(struct virtio_net_hdr), number, FRAME_BYTES);
	assert_int_equal(send(fixture->kernel_fd, queued, sizeof(queued), 0), sizeof(queued));
}

static struct weir_port_stats
stats_of(struct fixture *fixture)
{
	struct weir_port_stats stats = {0};

	packet_ring_stats(&fixture->ring, &stats);
	return stats;
}

/* Receives the frames of those numbers and no others. */
static void
expect(struct fixture *fixture, const uint8_t *numbers, uint16_t count)
{
	struct rte_mbuf *packets[PLACES];

	assert_int_equal(packet_ring_receive(&fixture->ring, packets, PLACES), count);
	for (uint16_t i = 0; i < count; i++) {
		assert_int_equal(packets[i]->pkt_len, FRAME_BYTES);
		assert_int_equal(*rte_pktmbuf_mtod(packets[i], uint8_t *), numbers[i]);
	}
	rte_pktmbuf_free_bulk(packets, count);
}

static void
an_interface_that_went_down_shifts_no_frame(void **state)
{
	struct fixture *fixture = *state;

	for (uint8_t number = 0; number < 3; number++) {
		announce(fixture);
		queue(fixture, number);
	}
	fail_next(ENETDOWN);
	fail_next(EINTR);
	expect(fixture, (const uint8_t[]){0, 1, 2}, 3);
	assert_int_equal(stats_of(fixture).rx_unread, 0);
	assert_int_equal(stats_of(fixture).rx_too_long, 0);
}

static void
a_frame_that_is_not_there_is_counted_as_unread_and_not_as_too_long(void **state)
{
	struct fixture *fixture = *state;

	announce(fixture);
	expect(fixture, NULL, 0);
	assert_int_equal(stats_of(fixture).rx_unread, 1);
	assert_int_equal(stats_of(fixture).rx_too_long, 0);
	announce(fixture);
	queue(fixture, 7);
	expect(fixture, (const uint8_t[]){7}, 1);
}

static void
a_frame_that_no_buffer_holds_is_counted_as_too_long(void **state)
{
	struct fixture *fixture = *state;

	fixture->ring.room_bytes = FRAME_BYTES - 1;
	announce(fixture);
	queue(fixture, 7);
	expect(fixture, NULL, 0);
	assert_int_equal(stats_of(fixture).rx_unread, 0);
	assert_int_equal(stats_of(fixture).rx_too_long, 1);
}

#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(an_interface_that_went_down_shifts_no_frame),
		WITH_RING(a_frame_that_is_not_there_is_counted_as_unread_and_not_as_too_long),
		WITH_RING(a_frame_that_no_buffer_holds_is_counted_as_too_long),
	};

	return cmocka_run_group_tests_name("packet_ring", tests, weir_test_eal, NULL);
}
