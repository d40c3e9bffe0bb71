/* SPDX-License-Identifier: Apache-2.0 */
#include "port/card_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "port/open.h"

struct test_card card;

uint64_t
card_ticks(uint64_t tsc)
{
	return card.first_ticks + (uint64_t)((double)(tsc - card.first_tsc) * card.ticks_per_cycle);
}

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_read_clock(uint16_t port_id, uint64_t *ticks);
int __wrap_rte_eth_timesync_enable(uint16_t port_id);
int __wrap_rte_eth_timesync_disable(uint16_t port_id);
int __wrap_rte_eth_timesync_read_time(uint16_t port_id, struct timespec *now);

int
__wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int status = __real_rte_eth_dev_info_get(port_id, info);

	if (card.stamps)
		info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return status;
}

int
__wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
			     const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	card.configured++;
	card.offloads = conf->rxmode.offloads;
	plain.rxmode.offloads = 0;
	return __real_rte_eth_dev_configure(port_id, rx_queues, tx_queues, &plain);
}

int
__wrap_rte_eth_read_clock(uint16_t port_id, uint64_t *ticks)
{
	(void)port_id;
	*ticks = card_ticks(rte_rdtsc());
	return card.raw_clock ? 0 : -ENOTSUP;
}

int
__wrap_rte_eth_timesync_enable(uint16_t port_id)
{
	(void)port_id;
	card.timesync_enabled = card.timesync;
	return card.timesync ? 0 : -ENOTSUP;
}

int
__wrap_rte_eth_timesync_disable(uint16_t port_id)
{
	(void)port_id;
	card.timesync_enabled = false;
	return 0;
}

int
__wrap_rte_eth_timesync_read_time(uint16_t port_id, struct timespec *now)
{
	uint64_t ns = card_ticks(rte_rdtsc());

	(void)port_id;
	*now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000)};
	return card.timesync_enabled ? 0 : -ENOTSUP;
}

int
new_card(void **state)
{
	(void)state;
	memset(&card, 0, sizeof(card));
	card.stamps = card.raw_clock = true;
	card.ticks_per_cycle = 1e9 * (1 + 70e-6) / (double)rte_get_tsc_hz();
	card.first_ticks = 31536000ull * 1000000000;
	card.first_tsc = rte_rdtsc();
	return 0;
}

struct weir_port *
open_card(enum weir_timestamps wish)
{
	static unsigned int opened;
	char devargs[16];
	const struct weir_port_config config = {
		.name = "tester.right",
		.devargs = devargs,
		.rx_queue_size = 256,
		.tx_queue_size = 256,
		.timestamps = wish,
	};
	struct weir_error error;

	/* The rings of one that has gone stay. */
	snprintf(devargs, sizeof(devargs), "net_ring%u", opened++);
	assert_int_equal(weir_ports_memory(1023, WEIR_STANDARD_FRAME_BYTES, &error), 0);
	assert_int_equal(weir_port_open(&config, "ports[0]", &error), 0);
	return weir_port_find("tester.right");
}

int
close_card(void **state)
{
	(void)state;
	weir_ports_close();
	return 0;
}
