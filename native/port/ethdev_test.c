/* SPDX-License-Identifier: Apache-2.0 */
/* A port of a driver that cuts frames and finishes none, DPDK's for AF_PACKET: it is watched from
 * its opening to its closing, or it does not open. On `lo` of a network namespace of the test's
 * own, which hands frames on as they come. */
#include "port/ethdev.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "port/open.h"
#include "testing/eal.h"

#define JUMBO_FRAME_BYTES 9216

static struct {
	bool refuses;
	const struct rte_eth_rxtx_callback *added, *removed;
} callbacks;

static bool has_namespace;

const struct rte_eth_rxtx_callback *__real_rte_eth_add_rx_callback(uint16_t id, uint16_t queue,
								   rte_rx_callback_fn function,
								   void *argument);
const struct rte_eth_rxtx_callback *__wrap_rte_eth_add_rx_callback(uint16_t id, uint16_t queue,
								   rte_rx_callback_fn function,
								   void *argument);
int __real_rte_eth_remove_rx_callback(uint16_t id, uint16_t queue,
				      const struct rte_eth_rxtx_callback *callback);
int __wrap_rte_eth_remove_rx_callback(uint16_t id, uint16_t queue,
				      const struct rte_eth_rxtx_callback *callback);

const struct rte_eth_rxtx_callback *
__wrap_rte_eth_add_rx_callback(uint16_t id, uint16_t queue, rte_rx_callback_fn function,
			       void *argument)
{
	if (callbacks.refuses) {
		rte_errno = ENOMEM;
		return NULL;
	}
	callbacks.added = __real_rte_eth_add_rx_callback(id, queue, function, argument);
	return callbacks.added;
}

int
__wrap_rte_eth_remove_rx_callback(uint16_t id, uint16_t queue,
				  const struct rte_eth_rxtx_callback *callback)
{
	callbacks.removed = callback;
	return __real_rte_eth_remove_rx_callback(id, queue, callback);
}

static void
set_merging(bool on)
{
	struct ethtool_value asked = {.cmd = ETHTOOL_SGRO, .data = on};
	struct ifreq request = {.ifr_name = "lo", .ifr_data = (char *)&asked};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(ioctl(fd, SIOCETHTOOL, &request), 0);
	close(fd);
}

static int
set_up(void **state)
{
	has_namespace = unshare(CLONE_NEWNET) == 0;
	if (has_namespace)
		set_merging(false);
	return weir_test_eal(state);
}

static int
begin(void **state)
{
	(void)state;
	memset(&callbacks, 0, sizeof(callbacks));
	return 0;
}

static int
end(void **state)
{
	(void)state;
	weir_ports_close();
	return 0;
}

static int
open_lo(uint16_t frame_bytes_max, struct weir_error *error)
{
	const struct weir_port_config config = {
		.name = "a",
		.kind = "af_packet",
		.interface = "lo",
		.rx_queue_size = 64,
		.tx_queue_size = 64,
	};

	if (!has_namespace) {
		print_message("skipped: no network namespace of its own without root\n");
		skip();
	}
	assert_int_equal(weir_ports_memory(1023, frame_bytes_max, error), 0);
	return weir_port_open(&config, "ports[0]", error);
}

static bool
is_device(void)
{
	uint16_t id;

	return rte_eth_dev_get_port_by_name("net_af_packet_0", &id) == 0;
}

static void
a_port_that_cannot_be_watched_for_cut_frames_does_not_open(void **state)
{
	struct weir_error error;

	(void)state;
	callbacks.refuses = true;
	assert_int_equal(open_lo(WEIR_STANDARD_FRAME_BYTES, &error), -1);
	assert_string_equal(error.code, "port_failed");
	assert_non_null(strstr(error.message, "net_af_packet_0"));
	assert_int_equal(weir_port_count(), 0);
	assert_false(is_device());
}

static void
the_watch_goes_before_its_port(void **state)
{
	struct weir_error error;

	(void)state;
	assert_int_equal(open_lo(WEIR_STANDARD_FRAME_BYTES, &error), 0);
	assert_non_null(callbacks.added);
	assert_true(is_device());
	weir_ports_close();
	assert_ptr_equal(callbacks.removed, callbacks.added);
	assert_false(is_device());
}

/* The driver names 1,514 or 1,518 bytes as the most, whatever its places hold. */
static void
a_driver_with_places_for_jumbo_frames_opens_for_them(void **state)
{
	struct weir_error error;

	(void)state;
	assert_int_equal(open_lo(JUMBO_FRAME_BYTES, &error), 0);
	assert_non_null(callbacks.added);
}

static void
an_interface_that_merges_what_comes_in_is_refused_with_what_to_do(void **state)
{
	struct weir_error error;

	(void)state;
	if (has_namespace)
		set_merging(true);
	assert_int_equal(open_lo(WEIR_STANDARD_FRAME_BYTES, &error), -1);
	set_merging(false);
	assert_string_equal(error.code, "port_failed");
	assert_non_null(strstr(error.message, "interface lo merges frames (rx-gro)"));
	assert_non_null(strstr(error.fix, "ethtool -K lo gro off lro off, or"));
	assert_int_equal(weir_port_count(), 0);
	assert_false(is_device());
}

#define OPENED(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(a_port_that_cannot_be_watched_for_cut_frames_does_not_open),
		OPENED(the_watch_goes_before_its_port),
		OPENED(a_driver_with_places_for_jumbo_frames_opens_for_them),
		OPENED(an_interface_that_merges_what_comes_in_is_refused_with_what_to_do),
	};

	return cmocka_run_group_tests_name("ethdev", tests, set_up, NULL);
}
