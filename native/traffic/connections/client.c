/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area of the clients. A connection is the number of its source: address and port, so that one
 * packet back is one look into the table. Sources are used in turn, which leaves functions between
 * the ends the longest time to forget the last connection of each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "side.h"
#include "traffic/histogram.h"
#include "traffic/pacing.h"
#include "traffic/stream.h"

#define OPEN_MOST 32 /* of one poll */
#define EXPIRE_MOST 32

enum state {
	FREE,
	SYN_SENT,
	WAITING, /* for an answer */
	THINKING,
	FIN_SENT,
	FIN_ACKNOWLEDGED,
	DATAGRAM_SENT,
	DATAGRAM_THINKING
};

struct connection {
	uint64_t since_tsc; /* the first SYN, then the beginning of the request */
	struct weir_tcp tcp;
	struct weir_link link;
	uint16_t left; /* transactions */
	uint8_t service;
	uint8_t spare;
	uint32_t destination; /* from the configuration's first */
};
static_assert(sizeof(struct connection) == 64, "one cache line");

struct weir_clients {
	struct weir_side side; /* first */
	struct weir_connections_config config;
	uint32_t weights;      /* the sum */
	uint32_t source_count; /* addresses x ports */
	uint16_t source_ports;
	size_t memory_bytes;
	struct connection *connections; /* NULL: not configured */
	/* Sources: those from fresh_at on, round and round, were not used in this run; those freed
	 * are a list, oldest first. */
	uint32_t fresh_at, fresh_left;
	uint32_t freed_first, freed_last;
	struct weir_pacing arrivals;
	uint64_t start_tsc, deadline_tsc, last_opened_tsc;
	bool hold;	 /* the duration is not over, and connections wait for that */
	bool all_opened; /* no more will be */
	uint64_t open_most;
	uint64_t hold_until_tsc;
	uint32_t turn; /* of destinations */
	struct weir_service_count services[WEIR_SERVICES_MAX];
	struct weir_histogram connect, first_byte, transaction;
};

static struct weir_clients *weir_clients;

struct weir_side *
weir_clients_side(void)
{
	return weir_clients != NULL ? &weir_clients->side : NULL;
}

static inline uint32_t
number_of(const struct weir_clients *clients, const struct connection *connection)
{
	return (uint32_t)(connection - clients->connections);
}

static struct weir_tuple
tuple_of(const struct weir_clients *clients, const struct connection *connection)
{
	const struct weir_connections_config *config = &clients->config;
	const struct weir_service *service = &config->services[connection->service];
	uint32_t number = number_of(clients, connection);

	return (struct weir_tuple){
		.src_ip = rte_cpu_to_be_32(config->source + number % config->source_count),
		.dst_ip = rte_cpu_to_be_32(config->destination + connection->destination),
		.src_port = rte_cpu_to_be_16(
			(uint16_t)(config->source_port_first + number / config->source_count)),
		.dst_port = rte_cpu_to_be_16(service->port),
		.protocol = service->udp ? IPPROTO_UDP : IPPROTO_TCP,
	};
}

/* The connection whose source the segment is sent to; NULL: no source of ours. */
static inline struct connection *
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
comes_from_its_server(const struct weir_clients *clients, const struct connection *connection,
		      const struct weir_segment *segment)
{
	const struct weir_tuple sent = tuple_of(clients, connection);

	return segment->tuple.src_ip == sent.dst_ip && segment->tuple.src_port == sent.dst_port &&
	       segment->tuple.protocol == sent.protocol;
}

/* --- the life of a connection ------------------------------------------------------------------
 */

static struct connection *
take_source(struct weir_clients *clients)
{
	uint32_t number;

	if (clients->fresh_left > 0) {
		clients->fresh_left--;
		number = clients->fresh_at;
		clients->fresh_at = number + 1 == clients->source_count ? 0 : number + 1;
		return &clients->connections[number];
	}
	number = clients->freed_first;
	if (number == WEIR_WHEEL_NONE)
		return NULL;
	clients->freed_first = clients->connections[number].link.next;
	return &clients->connections[number];
}

static void
release(struct weir_clients *clients, struct connection *connection)
{
	uint32_t number = number_of(clients, connection);

	weir_wheel_disarm(&clients->side.wheel, number);
	connection->tcp.state = FREE;
	connection->link.next = WEIR_WHEEL_NONE;
	if (clients->freed_first == WEIR_WHEEL_NONE)
		clients->freed_first = number;
	else
		clients->connections[clients->freed_last].link.next = number;
	clients->freed_last = number;
	weir_count(&clients->side.count.open, (uint64_t)-1);
}

static void
complete(struct weir_clients *clients, struct connection *connection)
{
	weir_count(&clients->side.count.completed, 1);
	weir_count(&clients->services[connection->service].completed, 1);
	release(clients, connection);
}

static void
count_failure(struct weir_clients *clients, unsigned int service, enum weir_failure why)
{
	weir_count(&clients->side.count.failed[why], 1);
	weir_count(&clients->services[service].failed, 1);
}

static void
fail(struct weir_clients *clients, struct connection *connection, enum weir_failure why)
{
	const struct weir_tuple to = tuple_of(clients, connection);

	/* So that nobody keeps what nobody needs. */
	if (why != WEIR_FAILED_RESET && to.protocol == IPPROTO_TCP)
		weir_tcp_control(&clients->side, &connection->tcp, &to,
				 connection->tcp.state == SYN_SENT
					 ? RTE_TCP_RST_FLAG
					 : RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
	count_failure(clients, connection->service, why);
	release(clients, connection);
}

static void
wait_for(struct weir_clients *clients, struct connection *connection, uint64_t at_tsc)
{
	weir_wheel_arm(&clients->side.wheel, number_of(clients, connection), at_tsc);
}

static void
wait_again(struct weir_clients *clients, struct connection *connection, uint64_t now_tsc)
{
	wait_for(clients, connection,
		 now_tsc + weir_side_timeout(&clients->side, connection->tcp.retries));
}

static struct weir_request
request_of(const struct weir_clients *clients, const struct connection *connection)
{
	const struct weir_service *service = &clients->config.services[connection->service];

	return (struct weir_request){
		.magic = rte_cpu_to_be_32(WEIR_REQUEST_MAGIC),
		.request_bytes = rte_cpu_to_be_32(service->request_bytes),
		.answer_bytes = rte_cpu_to_be_32(service->answer_bytes),
		.salt = connection->tcp.salt,
	};
}

static void
push(struct weir_clients *clients, struct connection *connection)
{
	const struct weir_request request = request_of(clients, connection);
	const struct weir_tuple to = tuple_of(clients, connection);

	weir_tcp_push(&clients->side, &connection->tcp, &to, (const uint8_t *)&request);
}

static void
send_datagram(struct weir_clients *clients, const struct connection *connection)
{
	const struct weir_request request = request_of(clients, connection);
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_segment segment = {
		.tuple = tuple_of(clients, connection),
		.payload_bytes = (uint16_t)service->request_bytes,
		.payload = weir_pattern_at(sizeof(request), connection->tcp.salt),
	};

	weir_side_send(&clients->side, &segment, (const uint8_t *)&request, sizeof(request), 0);
}

static void
begin_transaction(struct weir_clients *clients, struct connection *connection, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	struct weir_tcp *tcp = &connection->tcp;

	tcp->salt++;
	tcp->retries = 0;
	tcp->awaited = tcp->expected;
	tcp->awaited_bytes = service->answer_bytes;
	connection->since_tsc = now_tsc;
	if (service->udp) {
		tcp->state = DATAGRAM_SENT;
		send_datagram(clients, connection);
	} else {
		tcp->state = WAITING;
		weir_tcp_begin_message(tcp, service->request_bytes);
		push(clients, connection);
	}
	wait_again(clients, connection, now_tsc);
}

static void
open_one(struct weir_clients *clients, uint64_t now_tsc)
{
	const struct weir_connections_config *config = &clients->config;
	uint32_t pick =
		config->service_count == 1
			? 0
			: (uint32_t)(weir_random_next(&clients->side.random) % clients->weights);
	unsigned int service = 0;
	struct connection *connection;
	struct weir_tcp *tcp;
	struct weir_tuple to;

	while (service + 1 < config->service_count && pick >= config->services[service].weight)
		pick -= config->services[service++].weight;
	weir_count(&clients->side.count.opened, 1);
	weir_count(&clients->services[service].opened, 1);
	connection = take_source(clients);
	if (connection == NULL) {
		count_failure(clients, service, WEIR_FAILED_OUT_OF_PORTS);
		return;
	}
	weir_count(&clients->side.count.open, 1);
	if (weir_counted(&clients->side.count.open) > clients->open_most)
		__atomic_store_n(&clients->open_most, weir_counted(&clients->side.count.open),
				 __ATOMIC_RELAXED);
	connection->service = (uint8_t)service;
	connection->left = config->services[service].transactions;
	connection->destination = clients->turn;
	connection->since_tsc = now_tsc;
	connection->link.due = 0;
	clients->turn = clients->turn + 1 == config->destination_count ? 0 : clients->turn + 1;
	tcp = &connection->tcp;
	*tcp = (struct weir_tcp){.salt = (uint8_t)weir_random_next(&clients->side.random)};
	if (config->services[service].udp) {
		begin_transaction(clients, connection, now_tsc);
		return;
	}
	to = tuple_of(clients, connection);
	tcp->unacknowledged = (uint32_t)weir_random_next(&clients->side.random);
	tcp->state = SYN_SENT;
	weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_SYN_FLAG, tcp->unacknowledged);
	tcp->next = tcp->highest = tcp->unacknowledged + 1;
	wait_again(clients, connection, now_tsc);
}

static void
close_it(struct weir_clients *clients, struct connection *connection, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (service->udp) {
		complete(clients, connection);
		return;
	}
	weir_tcp_control(&clients->side, tcp, &to,
			 RTE_TCP_ACK_FLAG | (service->reset ? RTE_TCP_RST_FLAG : RTE_TCP_FIN_FLAG),
			 tcp->highest);
	if (service->reset) {
		complete(clients, connection);
		return;
	}
	tcp->next = ++tcp->highest;
	tcp->state = FIN_SENT;
	tcp->retries = 0;
	wait_again(clients, connection, now_tsc);
}

/* The answer is whole. */
static void
end_transaction(struct weir_clients *clients, struct connection *connection, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_tuple to = tuple_of(clients, connection);

	weir_histogram_add(&clients->transaction, now_tsc - connection->since_tsc);
	weir_count(&clients->side.count.transactions, 1);
	weir_count(&clients->services[connection->service].transactions, 1);
	if (connection->left > 0)
		connection->left--;
	if (connection->left == 0 && !clients->hold) {
		close_it(clients, connection, now_tsc);
		return;
	}
	if (service->think_ns == 0) {
		begin_transaction(clients, connection, now_tsc);
		return;
	}
	if (!service->udp)
		weir_tcp_control(&clients->side, &connection->tcp, &to, RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
	connection->tcp.state = service->udp ? DATAGRAM_THINKING : THINKING;
	wait_for(clients, connection,
		 now_tsc + (uint64_t)((double)service->think_ns * 1e-9 * (double)rte_get_tsc_hz()));
}

/* --- what arrives ------------------------------------------------------------------------------
 */

static void
take_datagram(struct weir_clients *clients, struct connection *connection,
	      const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	uint8_t salt = connection->tcp.salt;

	if (connection->tcp.state == DATAGRAM_SENT &&
	    segment->payload_bytes == service->answer_bytes &&
	    memcmp(segment->payload, weir_pattern_at(0, salt), segment->payload_bytes) == 0) {
		weir_count(&clients->side.count.payload_bytes, segment->payload_bytes);
		weir_histogram_add(&clients->first_byte, now_tsc - connection->since_tsc);
		end_transaction(clients, connection, now_tsc);
		return;
	}
	/* The answer before that one, again. */
	salt -= connection->tcp.state == DATAGRAM_SENT;
	if (segment->payload_bytes == service->answer_bytes &&
	    memcmp(segment->payload, weir_pattern_at(0, salt), segment->payload_bytes) == 0) {
		weir_count(&clients->side.count.out_of_order, 1);
		return;
	}
	fail(clients, connection, WEIR_FAILED_BAD_PAYLOAD);
}

/* True: the connection goes on with what else the segment has. */
static bool
take_data(struct weir_clients *clients, struct connection *connection,
	  const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;
	uint32_t offset = tcp->expected - tcp->awaited;

	if (segment->sequence != tcp->expected) {
		weir_count(&clients->side.count.out_of_order, 1);
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return false;
	}
	if (tcp->state != WAITING || segment->payload_bytes > tcp->awaited_bytes - offset ||
	    memcmp(segment->payload, weir_pattern_at(offset, tcp->salt), segment->payload_bytes) !=
		    0) {
		fail(clients, connection, WEIR_FAILED_BAD_PAYLOAD);
		return false;
	}
	if (offset == 0)
		weir_histogram_add(&clients->first_byte, now_tsc - connection->since_tsc);
	weir_count(&clients->side.count.payload_bytes, segment->payload_bytes);
	tcp->expected += segment->payload_bytes;
	tcp->owed++;
	if (offset + segment->payload_bytes == tcp->awaited_bytes) {
		end_transaction(clients, connection, now_tsc);
		return connection->tcp.state == WAITING || connection->tcp.state == THINKING ||
		       connection->tcp.state == FIN_SENT;
	}
	if (weir_tcp_owes(tcp, segment))
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	wait_for(clients, connection, now_tsc + weir_side_patience(&clients->side));
	return true;
}

static void
take_syn_sent(struct weir_clients *clients, struct connection *connection,
	      const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;
	bool acknowledges =
		(segment->flags & RTE_TCP_ACK_FLAG) != 0 && segment->acknowledged == tcp->highest;

	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		if (acknowledges)
			fail(clients, connection, WEIR_FAILED_RESET);
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
	begin_transaction(clients, connection, now_tsc);
}

static void
take_fin(struct weir_clients *clients, struct connection *connection,
	 const struct weir_segment *segment)
{
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (segment->sequence + segment->payload_bytes != tcp->expected)
		return;
	if (tcp->state == WAITING || tcp->state == THINKING) {
		fail(clients, connection, WEIR_FAILED_CLOSED_EARLY);
		return;
	}
	if (weir_tcp_is_outstanding(tcp))
		return; /* it comes again */
	tcp->expected++;
	weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	complete(clients, connection);
}

static void
take(struct weir_clients *clients, struct connection *connection,
     const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (tcp->state == SYN_SENT) {
		take_syn_sent(clients, connection, segment, now_tsc);
		return;
	}
	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		if (segment->sequence == tcp->expected)
			fail(clients, connection, WEIR_FAILED_RESET);
		return;
	}
	if ((segment->flags & RTE_TCP_SYN_FLAG) != 0) {
		/* The acknowledgement of the SYN-ACK was lost. */
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return;
	}
	if (weir_tcp_acknowledged(tcp, segment)) {
		if (tcp->state == FIN_SENT && !weir_tcp_is_outstanding(tcp))
			tcp->state = FIN_ACKNOWLEDGED;
		else if (tcp->state == WAITING)
			push(clients, connection);
		if (tcp->state == FIN_ACKNOWLEDGED || !weir_tcp_is_outstanding(tcp))
			wait_for(clients, connection, now_tsc + weir_side_patience(&clients->side));
		else
			wait_again(clients, connection, now_tsc);
	} else if (tcp->duplicates == WEIR_DUPLICATES && tcp->state == WAITING) {
		tcp->duplicates = 0;
		weir_tcp_go_back(tcp);
		push(clients, connection);
	}
	if (segment->payload_bytes > 0 && !take_data(clients, connection, segment, now_tsc))
		return;
	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0)
		take_fin(clients, connection, segment);
}

/* A FIN comes again after the connection was closed: the last acknowledgement was lost. */
static void
acknowledge_again(struct weir_clients *clients, struct connection *connection,
		  const struct weir_segment *segment)
{
	const struct weir_tuple to = tuple_of(clients, connection);

	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0 && to.protocol == IPPROTO_TCP &&
	    segment->acknowledged == connection->tcp.highest &&
	    segment->sequence + 1 == connection->tcp.expected)
		weir_tcp_control(&clients->side, &connection->tcp, &to, RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
}

static uint32_t
receive(struct weir_clients *clients, uint64_t now_tsc)
{
	struct weir_segment segments[WEIR_SIDE_BURST];
	struct connection *connections[WEIR_SIDE_BURST];
	struct rte_mbuf *packets[WEIR_SIDE_BURST];
	uint16_t count = weir_side_receive(&clients->side, packets, segments);

	for (uint16_t i = 0; i < count; i++) {
		connections[i] = of_segment(clients, &segments[i]);
		if (connections[i] != NULL)
			rte_prefetch0(connections[i]);
	}
	for (uint16_t i = 0; i < count; i++) {
		struct connection *connection = connections[i];

		if (connection == NULL || !comes_from_its_server(clients, connection, &segments[i]))
			weir_count(&clients->side.count.not_ours, 1);
		else if (connection->tcp.state == FREE)
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

/* --- what is due -------------------------------------------------------------------------------
 */

static bool
may_try_again(struct weir_clients *clients, struct connection *connection)
{
	if (connection->tcp.retries == clients->side.retries) {
		fail(clients, connection, WEIR_FAILED_NO_ANSWER);
		return false;
	}
	connection->tcp.retries++;
	return true;
}

static void
send_again(struct weir_clients *clients, struct connection *connection)
{
	const struct weir_tuple to = tuple_of(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	switch (tcp->state) {
	case SYN_SENT:
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_SYN_FLAG, tcp->unacknowledged);
		break;
	case FIN_SENT:
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
				 tcp->highest - 1);
		break;
	case DATAGRAM_SENT:
		send_datagram(clients, connection);
		break;
	default:
		weir_tcp_go_back(tcp);
		push(clients, connection);
		return; /* which counts what it sends again */
	}
	weir_count(&clients->side.count.retransmissions, 1);
}

static void
expire(struct weir_clients *clients, struct connection *connection, uint64_t now_tsc)
{
	switch (connection->tcp.state) {
	case THINKING:
	case DATAGRAM_THINKING:
		if (connection->left == 0 && !clients->hold)
			close_it(clients, connection, now_tsc);
		else
			begin_transaction(clients, connection, now_tsc);
		return;
	case WAITING:
		if (!weir_tcp_is_outstanding(&connection->tcp)) {
			fail(clients, connection, WEIR_FAILED_NO_ANSWER);
			return;
		}
		break;
	case FIN_ACKNOWLEDGED:
		fail(clients, connection, WEIR_FAILED_NO_ANSWER);
		return;
	default:
		break;
	}
	if (may_try_again(clients, connection)) {
		send_again(clients, connection);
		wait_again(clients, connection, now_tsc);
	}
}

static uint32_t
open_due(struct weir_clients *clients, uint64_t now_tsc)
{
	uint64_t opened = weir_counted(&clients->side.count.opened), due;

	if (clients->all_opened)
		return 0;
	if (now_tsc > clients->deadline_tsc || weir_pacing_ended(&clients->arrivals, opened)) {
		__atomic_store_n(&clients->all_opened, true, __ATOMIC_RELEASE);
		return 0;
	}
	due = weir_pacing_due(&clients->arrivals, now_tsc, opened + OPEN_MOST);
	if (due <= opened)
		return 0;
	due = RTE_MIN(due - opened, (uint64_t)OPEN_MOST);
	for (uint64_t i = 0; i < due; i++)
		open_one(clients, now_tsc);
	clients->last_opened_tsc = now_tsc;
	return (uint32_t)due;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct weir_clients *clients = (struct weir_clients *)(void *)area;
	uint32_t numbers[EXPIRE_MOST], handled;
	unsigned int expired;

	handled = receive(clients, now_tsc);
	if (!clients->side.running)
		return handled;
	if (clients->hold && now_tsc >= clients->hold_until_tsc)
		clients->hold = false;
	expired = weir_wheel_expire(&clients->side.wheel, now_tsc, numbers, EXPIRE_MOST);
	for (unsigned int i = 0; i < expired; i++)
		expire(clients, &clients->connections[numbers[i]], now_tsc);
	handled += expired + open_due(clients, now_tsc);
	weir_side_flush(&clients->side);
	return handled;
}

/* --- control -----------------------------------------------------------------------------------
 */

struct weir_area *
weir_clients_create(const char *name, unsigned int core, const struct weir_queue *queue,
		    uint16_t port_id, struct weir_error *error)
{
	struct weir_clients *clients;

	if (weir_clients != NULL) {
		weir_fail(error, "bad_argument", name, "one area of clients", NULL,
			  "there are clients already: '%s'", weir_clients->side.area.name);
		return NULL;
	}
	clients = calloc(1, sizeof(*clients));
	if (clients == NULL) {
		weir_fail(error, "no_memory", name, NULL, NULL, "no memory");
		return NULL;
	}
	snprintf(clients->side.name, sizeof(clients->side.name), "%s", name);
	clients->side.area = (struct weir_area){
		.poll = poll,
		.name = clients->side.name,
		.core = core,
	};
	clients->side.queue = *queue;
	clients->side.port_id = port_id;
	weir_clients = clients;
	return &clients->side.area;
}

void
weir_clients_destroy(struct weir_area *area)
{
	weir_clients_forget();
	free(area);
	weir_clients = NULL;
}

int
weir_clients_prepare(const struct weir_connections_config *config, struct weir_error *error)
{
	uint16_t ports = config->source_port_last - config->source_port_first + 1;
	size_t bytes = (size_t)config->source_count * ports * sizeof(struct connection);
	struct connection *connections;

	if (weir_side_prepare(&weir_clients->side, &config->clients, config, error) < 0)
		return -1;
	connections = weir_side_memory(bytes);
	if (connections == NULL)
		return weir_fail(error, "no_memory", "clients", NULL, NULL,
				 "no memory for %zu connections", bytes / sizeof(*connections));
	weir_clients_forget();
	weir_clients->config = *config;
	weir_clients->memory_bytes = bytes;
	weir_clients->source_ports = ports;
	weir_clients->source_count = (uint32_t)(bytes / sizeof(*connections));
	weir_clients->fresh_at = 0;
	weir_clients->fresh_left = weir_clients->source_count;
	weir_clients->weights = 0;
	for (unsigned int i = 0; i < config->service_count; i++)
		weir_clients->weights += config->services[i].weight;
	weir_clients->side.random = config->seed;
	weir_clients->connections = connections;
	return 0;
}

void
weir_clients_forget(void)
{
	if (weir_clients == NULL)
		return;
	weir_clients->side.running = false;
	weir_side_memory_free(weir_clients->connections, weir_clients->memory_bytes);
	weir_clients->connections = NULL;
}

void
weir_clients_begin(const struct weir_connections_run *run, uint64_t start_tsc)
{
	struct weir_clients *clients = weir_clients;
	uint64_t hz = rte_get_tsc_hz();

	for (uint32_t i = 0; i < clients->source_count; i++) {
		clients->connections[i].tcp.state = FREE;
		clients->connections[i].link.due = 0;
	}
	clients->fresh_left = clients->source_count;
	clients->freed_first = clients->freed_last = WEIR_WHEEL_NONE;
	weir_wheel_begin(&clients->side.wheel, &clients->connections[0].link,
			 sizeof(struct connection), hz, start_tsc);
	memset(&clients->side.count, 0, sizeof(clients->side.count));
	memset(clients->services, 0, sizeof(clients->services));
	weir_histogram_clear(&clients->connect);
	weir_histogram_clear(&clients->first_byte);
	weir_histogram_clear(&clients->transaction);
	clients->open_most = 0;
	clients->arrivals = weir_pacing_of(run->rate, run->duration_ns, hz, run->poisson,
					   weir_random_next(&clients->side.random));
	clients->arrivals.start_tsc = start_tsc;
	if (run->connections > 0)
		weir_pacing_limit(&clients->arrivals, run->connections);
	clients->start_tsc = clients->last_opened_tsc = start_tsc;
	/* What is still to be opened somewhat later than the end is the tester's fault. */
	clients->deadline_tsc = start_tsc + clients->arrivals.duration_cycles +
				clients->arrivals.duration_cycles / 100 + hz / 100;
	clients->hold = run->hold;
	clients->hold_until_tsc = start_tsc + clients->arrivals.duration_cycles;
	clients->all_opened = false;
	clients->side.running = true;
}

bool
weir_clients_have_opened(void)
{
	return __atomic_load_n(&weir_clients->all_opened, __ATOMIC_ACQUIRE);
}

/* On the clients' thread. */
void
weir_clients_counted(struct weir_connections_count *count)
{
	const struct weir_clients *clients = weir_clients;

	count->intended = weir_pacing_intended(&clients->arrivals, clients->side.count.opened);
	count->duration_ns = (uint64_t)((double)(clients->last_opened_tsc - clients->start_tsc) *
					1e9 / (double)rte_get_tsc_hz());
	count->open_most = clients->open_most;
	count->clients = clients->side.count;
	count->service_count = clients->config.service_count;
	memcpy(count->services, clients->services, sizeof(count->services));
	weir_latency_of(&clients->connect, &count->connect);
	weir_latency_of(&clients->first_byte, &count->first_byte);
	weir_latency_of(&clients->transaction, &count->transaction);
}
