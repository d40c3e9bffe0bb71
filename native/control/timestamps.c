/* SPDX-License-Identifier: Apache-2.0 */
#include "timestamps.h"

#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "port/device_clock.h"
#include "port/stamping.h"
#include "traffic/traffic.h"

#define UNTIMED_SHARE_MAX 0.01

int
weir_timestamps_check(struct weir_port *port, enum weir_timestamps wish, struct weir_error *error)
{
	port->timestamps = wish;
	if (wish != WEIR_TIMESTAMPS_COUNTER && port->clock == NULL && port->no_clock[0] == '\0')
		snprintf(port->no_clock, sizeof(port->no_clock), "no network card is behind it");
	if (wish != WEIR_TIMESTAMPS_HARDWARE || port->clock != NULL)
		return 0;
	return weir_fail(
		error, "port_failed", port->name,
		"a network card that stamps every packet that it receives, by a clock that "
		"DPDK can read",
		"let the time-stamp counter do it: timestamps auto or counter",
		"port %s (driver %s) has no hardware timestamps: %s", port->name, port->driver,
		port->no_clock);
}

json_t *
weir_timestamps_json(const struct weir_port *port)
{
	double cycle_ns = 1e9 / (double)rte_get_tsc_hz();
	json_t *object;

	if (port->clock != NULL)
		return json_pack("{s:s, s:f, s:f, s:s}", "clock", "card", "resolution_ns",
				 weir_device_clock_resolution_ns(port->clock), "uncertainty_ns",
				 weir_device_clock_uncertainty_ns(port->clock), "driver",
				 port->driver);
	object = json_pack("{s:s, s:f, s:f, s:s}", "clock", "counter", "resolution_ns", cycle_ns,
			   "uncertainty_ns", 0.0, "driver", port->driver);
	if (port->no_clock[0] != '\0')
		json_object_set_new(object, "why", json_string(port->no_clock));
	return object;
}

bool
weir_clocks_follow(void)
{
	static uint64_t followed_tsc;
	uint64_t gap_cycles = rte_get_tsc_hz() * WEIR_CLOCK_FOLLOW_MS / 1000;
	uint64_t now = rte_rdtsc();
	bool due = now - followed_tsc >= gap_cycles, any = false;

	for (unsigned int i = 0; i < weir_port_count(); i++) {
		struct weir_port *port = weir_port_at(i);

		if (port->clock == NULL)
			continue;
		any = true;
		if (!due)
			continue;
		followed_tsc = now;
		/* A clock that can no longer be read counts as stepped. */
		if (!weir_device_clock_follow(port->clock))
			port->clock->line.steps++;
		weir_receiver_follow(port->id, &port->clock->line);
	}
	return any;
}

/* What the receiver at the port counted in the last run. */
static void
counted(const struct weir_port *port, struct weir_receiver_count *count)
{
	memset(count, 0, sizeof(*count));
	for (unsigned int i = 0; i < weir_receiver_count(); i++) {
		if (strcmp(weir_receiver_port(i), port->name) == 0)
			weir_receiver_counted(i, count);
	}
}

void
weir_clocks_review(void)
{
	if (weir_run_poll() == WEIR_RUN_RUNNING)
		return;
	for (unsigned int i = 0; i < weir_port_count(); i++) {
		struct weir_port *port = weir_port_at(i);
		struct weir_receiver_count count;
		char why[sizeof(port->no_clock)];

		if (port->clock == NULL || port->timestamps == WEIR_TIMESTAMPS_HARDWARE)
			continue;
		counted(port, &count);
		if ((double)count.untimed <=
		    UNTIMED_SHARE_MAX * (double)(count.timed + count.untimed))
			continue;
		snprintf(why, sizeof(why),
			 "%llu of %llu packets came without a stamp that can be true",
			 (unsigned long long)count.untimed,
			 (unsigned long long)(count.timed + count.untimed));
		weir_receiver_follow(port->id, NULL);
		weir_stamping_end(port, why);
	}
}
