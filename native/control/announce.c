/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `announce`: every port with a MAC of its own sends gratuitous RARP requests (RFC 903) from it, as
 * hypervisors do after a migration, so that learning bridges know the MAC before traffic starts.
 */
#include <rte_arp.h>
#include <rte_mbuf.h>

#include "dataplane.h"
#include "port/port.h"
#include "traffic/traffic.h"
#include "verbs.h"

static bool
send_rarp(const struct weir_port *port)
{
	struct rte_mbuf *packet = rte_net_make_rarp_packet(weir_ports_mempool(), &port->mac);

	if (packet == NULL)
		return false;
	if (weir_queue_transmit(&port->queue, &packet, 1) == 1)
		return true;
	rte_pktmbuf_free(packet);
	return false;
}

struct announce_fields {
	uint32_t count;
};

static const struct weir_field announce_fields[] = {
	{"count", WEIR_FIELD_COUNT, .min = 1, .max = 100, .default_value = 3,
	 WEIR_INTO(struct announce_fields, count)},
	{0},
};

static int
announce(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct announce_fields *fields = arguments;
	bool was_running = weir_loops_running();
	uint64_t sent = 0;

	if (!weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `configure` first",
				 "nothing is configured");
	if (weir_run_poll() == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL,
				 "wait for its end with traffic.result", "a run goes on");
	/* A transmit queue belongs to one thread at a time. */
	weir_loops_stop();
	for (uint32_t i = 0; i < fields->count; i++) {
		for (unsigned int j = 0; j < weir_port_count(); j++) {
			const struct weir_port *port = weir_port_at(j);

			if (port->has_mac && send_rarp(port))
				sent++;
		}
	}
	if (was_running)
		weir_loops_start(&weir_dataplane.loop);
	*result = json_pack("{s:I}", "sent", (json_int_t)sent);
	return 0;
}

const struct weir_verb weir_verb_announce = {
	"announce", "Sends frames from every port with a MAC, for learning bridges.", announce,
	announce_fields, sizeof(struct announce_fields)};
