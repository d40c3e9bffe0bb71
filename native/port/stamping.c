/* SPDX-License-Identifier: Apache-2.0 */
#include "stamping.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "device_clock.h"

void
weir_stamping_ask(const struct rte_eth_dev_info *info, struct weir_port *port,
		  struct rte_eth_conf *conf)
{
	if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) == 0)
		snprintf(port->no_clock, sizeof(port->no_clock),
			 "its driver offers no stamps on received packets");
	else
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
}

static int
read_raw(uint16_t ethdev_id, uint64_t *ticks)
{
	return rte_eth_read_clock(ethdev_id, ticks);
}

/* The clock of IEEE 1588, in nanoseconds: what drivers without a raw clock stamp by. */
static int
read_timesync(uint16_t ethdev_id, uint64_t *ticks)
{
	struct timespec now;
	int status = rte_eth_timesync_read_time(ethdev_id, &now);

	*ticks = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return status;
}

/* The first clock that can be read, or why there is none. */
static const char *
choose(struct weir_device_clock *clock)
{
	uint64_t ticks;

	clock->read = read_raw;
	if (read_raw(clock->ethdev_id, &ticks) == 0)
		return NULL;
	if (rte_eth_timesync_enable(clock->ethdev_id) != 0)
		return "it stamps packets, but by a clock that its driver does not show";
	clock->read = read_timesync;
	clock->timesync = true;
	return NULL;
}

static const char *
begin(struct weir_device_clock *clock)
{
	const char *why;

	if (rte_mbuf_dyn_rx_timestamp_register(&clock->line.field_offset, &clock->line.flag) != 0)
		return "packet buffers have no room for its stamps";
	why = choose(clock);
	return why != NULL ? why : weir_device_clock_begin(clock);
}

bool
weir_stamping_begin(struct weir_port *port)
{
	const char *why = "no memory for its clock";

	port->clock = calloc(1, sizeof(*port->clock));
	if (port->clock != NULL) {
		port->clock->ethdev_id = port->queue.ethdev_id;
		why = begin(port->clock);
	}
	if (why != NULL)
		weir_stamping_end(port, why);
	return port->clock != NULL;
}

void
weir_stamping_end(struct weir_port *port, const char *why)
{
	if (port->clock != NULL && port->clock->timesync)
		rte_eth_timesync_disable(port->queue.ethdev_id);
	free(port->clock);
	port->clock = NULL;
	snprintf(port->no_clock, sizeof(port->no_clock), "%s", why);
}
