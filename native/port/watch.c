/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "kind.h"
#include "offloads.h"
#include "packet/ledger.h"

/* A frame that fills its place is one that the driver cut, but for those of just that length. */
static inline uint64_t *
not_whole(struct weir_port *port, const struct rte_mbuf *packet)
{
	const struct weir_port_kind *kind = port->kind;
	struct weir_headers headers;

	if (kind->cut_head_bytes != 0 &&
	    packet->pkt_len >= weir_ports_room_bytes() - kind->cut_head_bytes)
		return &port->rx_too_long;
	if (!kind->finishes_nothing)
		return NULL;
	weir_headers_parse(packet, &headers);
	return weir_is_unfinished(packet, &headers) ? &port->rx_unfinished : NULL;
}

static uint16_t
keep_whole_frames(uint16_t id, uint16_t queue, struct rte_mbuf **packets, uint16_t count,
		  uint16_t count_max, void *argument)
{
	struct weir_port *port = argument;
	uint16_t kept = 0;

	(void)id;
	(void)queue;
	(void)count_max;
	for (uint16_t i = 0; i < count; i++) {
		uint64_t *counter = not_whole(port, packets[i]);

		if (likely(counter == NULL)) {
			packets[kept++] = packets[i];
			continue;
		}
		rte_pktmbuf_free(packets[i]);
		weir_count(counter, 1);
	}
	return kept;
}

int
weir_watch_begin(struct weir_port *port, struct weir_error *error)
{
	if (port->kind->cut_head_bytes == 0 && !port->kind->finishes_nothing)
		return 0;
	port->watch = rte_eth_add_rx_callback(port->queue.ethdev_id, 0, keep_whole_frames, port);
	if (port->watch != NULL)
		return 0;
	return weir_fail(error, "port_failed", port->name, NULL,
			 "give weir-dp more memory, or open the interface as packet_socket",
			 "cannot watch port %s for frames that are not whole: %s", port->device,
			 rte_strerror(rte_errno));
}

void
weir_watch_end(struct weir_port *port)
{
	if (port->watch == NULL)
		return;
	rte_eth_remove_rx_callback(port->queue.ethdev_id, 0, port->watch);
	rte_free((void *)(uintptr_t)port->watch); /* DPDK leaves it to its caller */
	port->watch = NULL;
}
