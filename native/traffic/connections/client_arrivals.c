/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives at the clients: a segment or datagram finds its connection, and moves it on. */
#include <string.h>

#include <rte_prefetch.h>

#include "client.h"
#include "traffic/stream.h"

/* The connection whose source the segment is sent to; NULL: no source of ours. */
static inline struct weir_connection *
of_segment(const struct weir_clients *clients, const struct weir_segment *segment)
{
	const struct weir_connections_config *config = &clients->config;
	uint32_t address = rte_be_to_cpu_32(segment->tuple.dst_ip) - config->source;
	uint32_t port =
		(uint32_t)rte_be_to_cpu_16(segment->tuple.dst_port) - config->source_port_first;

	if (address >= config->source_count || port >= clients->source_ports)
		return NULL;
	return &clients->connections[port * config->source_count + address];
}

static inline bool
comes_from_its_server(const struct weir_clients *clients, const struct weir_connection *connection,
		      const struct weir_segment *segment)
{
	const struct weir_tuple sent = weir_client_tuple(clients, connection);

	return segment->tuple.src_ip == sent.dst_ip && segment->tuple.src_port == sent.dst_port &&
	       segment->tuple.protocol == sent.protocol && segment->tuple.zero[0] == sent.zero[0];
}

static void
take_datagram(struct weir_clients *clients, struct weir_connection *connection,
	      const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	uint8_t salt = connection->tcp.salt;

	if (connection->tcp.state == WEIR_CLIENT_DATAGRAM_SENT &&
	    segment->payload_bytes == service->answer_bytes &&
	    weir_pattern_matches(segment->payload, segment->payload_bytes, 0, salt)) {
		weir_count(&clients->side.count.payload_bytes, segment->payload_bytes);
		weir_histogram_add(&clients->first_byte, now_tsc - connection->since_tsc);
		weir_client_end_transaction(clients, connection, now_tsc);
		return;
	}
	/* The answer before that one, again. */
	salt -= connection->tcp.state == WEIR_CLIENT_DATAGRAM_SENT;
	if (segment->payload_bytes == service->answer_bytes &&
	    weir_pattern_matches(segment->payload, segment->payload_bytes, 0, salt)) {
		weir_count(&clients->side.count.out_of_order, 1);
		return;
	}
	weir_client_fail(clients, connection, WEIR_FAILED_BAD_PAYLOAD);
}

/* True: the connection goes on with what else the segment has. */
static bool
take_data(struct weir_clients *clients, struct weir_connection *connection,
	  const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;
	uint32_t offset = tcp->expected - tcp->awaited;

	if (segment->sequence != tcp->expected) {
		weir_count(&clients->side.count.out_of_order, 1);
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return false;
	}
	if (tcp->state != WEIR_CLIENT_WAITING ||
	    segment->payload_bytes > tcp->awaited_bytes - offset ||
	    !weir_pattern_matches(segment->payload, segment->payload_bytes, offset, tcp->salt)) {
		weir_client_fail(clients, connection, WEIR_FAILED_BAD_PAYLOAD);
		return false;
	}
	if (offset == 0)
		weir_histogram_add(&clients->first_byte, now_tsc - connection->since_tsc);
	weir_count(&clients->side.count.payload_bytes, segment->payload_bytes);
	tcp->expected += segment->payload_bytes;
	tcp->owed++;
	if (offset + segment->payload_bytes == tcp->awaited_bytes) {
		weir_client_end_transaction(clients, connection, now_tsc);
		return connection->tcp.state == WEIR_CLIENT_WAITING ||
		       connection->tcp.state == WEIR_CLIENT_THINKING ||
		       connection->tcp.state == WEIR_CLIENT_FIN_SENT;
	}
	if (weir_tcp_owes(tcp, segment))
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	weir_client_wait_for(clients, connection, now_tsc + weir_side_patience(&clients->side));
	return true;
}

static void
take_syn_sent(struct weir_clients *clients, struct weir_connection *connection,
	      const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;
	bool acknowledges =
		(segment->flags & RTE_TCP_ACK_FLAG) != 0 && segment->acknowledged == tcp->highest;

	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		if (acknowledges)
			weir_client_fail(clients, connection, WEIR_FAILED_RESET);
		return;
	}
	if (!acknowledges || (segment->flags & RTE_TCP_SYN_FLAG) == 0) {
		/* Half open: the other side still has a connection of before (RFC 9293, 3.5.1). */
		if ((segment->flags & RTE_TCP_ACK_FLAG) != 0)
			weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_RST_FLAG,
					 segment->acknowledged);
		weir_count(&clients->side.count.not_ours, 1);
		return;
	}
	tcp->unacknowledged = tcp->highest;
	tcp->expected = segment->sequence + 1;
	weir_count(&clients->side.count.established, 1);
	weir_histogram_add(&clients->connect, now_tsc - connection->since_tsc);
	weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	weir_client_opened(clients, connection, now_tsc);
}

static void
take_fin(struct weir_clients *clients, struct weir_connection *connection,
	 const struct weir_segment *segment)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (segment->sequence + segment->payload_bytes != tcp->expected)
		return;
	if (tcp->state == WEIR_CLIENT_WAITING || tcp->state == WEIR_CLIENT_THINKING) {
		weir_client_fail(clients, connection, WEIR_FAILED_CLOSED_EARLY);
		return;
	}
	if (weir_tcp_is_outstanding(tcp))
		return; /* it comes again */
	tcp->expected++;
	weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	weir_client_complete(clients, connection);
}

static void
take(struct weir_clients *clients, struct weir_connection *connection,
     const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (tcp->state == WEIR_CLIENT_SYN_SENT) {
		take_syn_sent(clients, connection, segment, now_tsc);
		return;
	}
	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		if (segment->sequence == tcp->expected)
			weir_client_fail(clients, connection, WEIR_FAILED_RESET);
		return;
	}
	if ((segment->flags & RTE_TCP_SYN_FLAG) != 0) {
		/* The acknowledgement of the SYN-ACK was lost. */
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return;
	}
	if (weir_tcp_acknowledged(tcp, segment)) {
		if (tcp->state == WEIR_CLIENT_FIN_SENT && !weir_tcp_is_outstanding(tcp))
			tcp->state = WEIR_CLIENT_FIN_ACKNOWLEDGED;
		else if (tcp->state == WEIR_CLIENT_WAITING)
			weir_client_push(clients, connection);
		if (tcp->state == WEIR_CLIENT_FIN_ACKNOWLEDGED || !weir_tcp_is_outstanding(tcp))
			weir_client_wait_for(clients, connection,
					     now_tsc + weir_side_patience(&clients->side));
		else
			weir_client_wait_again(clients, connection, now_tsc);
	} else if (tcp->duplicates == WEIR_DUPLICATES && tcp->state == WEIR_CLIENT_WAITING) {
		tcp->duplicates = 0;
		weir_tcp_go_back(tcp);
		weir_client_push(clients, connection);
	}
	if (segment->payload_bytes > 0 && !take_data(clients, connection, segment, now_tsc))
		return;
	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0)
		take_fin(clients, connection, segment);
}

/* A FIN comes again after the connection was closed: the last acknowledgement was lost. */
static void
acknowledge_again(struct weir_clients *clients, struct weir_connection *connection,
		  const struct weir_segment *segment)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);

	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0 && to.protocol == IPPROTO_TCP &&
	    segment->acknowledged == connection->tcp.highest &&
	    segment->sequence + 1 == connection->tcp.expected)
		weir_tcp_control(&clients->side, &connection->tcp, &to, RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
}

uint32_t
weir_clients_receive(struct weir_clients *clients, uint64_t now_tsc)
{
	struct weir_segment segments[WEIR_SIDE_BURST];
	struct weir_connection *connections[WEIR_SIDE_BURST];
	struct rte_mbuf *packets[WEIR_SIDE_BURST];
	uint16_t count = weir_side_receive(&clients->side, packets, segments);

	for (uint16_t i = 0; i < count; i++) {
		connections[i] = of_segment(clients, &segments[i]);
		if (connections[i] != NULL)
			rte_prefetch0(connections[i]);
	}
	for (uint16_t i = 0; i < count; i++) {
		struct weir_connection *connection = connections[i];

		if (connection == NULL || !comes_from_its_server(clients, connection, &segments[i]))
			weir_count(&clients->side.count.not_ours, 1);
		else if (connection->tcp.state == WEIR_CLIENT_FREE)
			acknowledge_again(clients, connection, &segments[i]);
		else if (segments[i].tuple.protocol == IPPROTO_UDP)
			take_datagram(clients, connection, &segments[i], now_tsc);
		else
			take(clients, connection, &segments[i], now_tsc);
	}
	if (count > 0)
		rte_pktmbuf_free_bulk(packets, count);
	return count;
}
