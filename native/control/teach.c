/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `teach`: every port with a MAC of its own sends RARP requests (RFC 903) from it, as hypervisors
 * do after a migration, so that learning bridges know where it is before traffic starts.
 */
#include <string.h>

#include <rte_arp.h>
#include <rte_mbuf.h>

#include "arguments.h"
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

int
weir_verb_teach(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"count", NULL};
	bool was_running = weir_loops_running();
	uint64_t times = 3;
	uint64_t sent = 0;

	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_count(args, "count", 1, 100, "", &times, error) < 0)
		return -1;
	if (!weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `configure` first",
				 "nothing is configured");
	if (weir_run_poll() == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL,
				 "wait for its end with traffic.result", "a run goes on");
	/* A transmit queue belongs to one thread at a time. */
	weir_loops_stop();
	for (uint64_t i = 0; i < times; i++) {
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
