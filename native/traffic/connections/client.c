/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a client's connection: opened, its transactions, closed or failed; what it sends
 * again. */
#include <rte_cycles.h>

#include "client.h"
#include "traffic/random.h"

static struct weir_connection *
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
release(struct weir_clients *clients, struct weir_connection *connection)
{
	uint32_t number = weir_client_number(clients, connection);

	weir_client_remove_idle(clients, connection);
	weir_wheel_disarm(&clients->side.wheel, number);
	connection->tcp.state = WEIR_CLIENT_FREE;
	connection->link.next = WEIR_WHEEL_NONE;
	if (clients->freed_first == WEIR_WHEEL_NONE)
		clients->freed_first = number;
	else
		clients->connections[clients->freed_last].link.next = number;
	clients->freed_last = number;
	weir_count(&clients->side.count.open, (uint64_t)-1);
}

void
weir_client_complete(struct weir_clients *clients, struct weir_connection *connection)
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

void
weir_client_fail(struct weir_clients *clients, struct weir_connection *connection,
		 enum weir_failure why)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);

	/* So that nobody keeps what nobody needs. */
	if (why != WEIR_FAILED_RESET && to.protocol == IPPROTO_TCP)
		weir_tcp_control(&clients->side, &connection->tcp, &to,
				 connection->tcp.state == WEIR_CLIENT_SYN_SENT
					 ? RTE_TCP_RST_FLAG
					 : RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
	count_failure(clients, connection->service, why);
	release(clients, connection);
}

void
weir_client_wait_for(struct weir_clients *clients, struct weir_connection *connection,
		     uint64_t at_tsc)
{
	if (connection->idle)
		return; /* its link is the list's */
	weir_wheel_arm(&clients->side.wheel, weir_client_number(clients, connection), at_tsc);
}

void
weir_client_wait_again(struct weir_clients *clients, struct weir_connection *connection,
		       uint64_t now_tsc)
{
	weir_client_wait_for(clients, connection,
			     now_tsc + weir_side_timeout(&clients->side, connection->tcp.retries));
}

static struct weir_request
request_of(const struct weir_clients *clients, const struct weir_connection *connection)
{
	const struct weir_service *service = &clients->config.services[connection->service];

	return (struct weir_request){
		.magic = rte_cpu_to_be_32(WEIR_REQUEST_MAGIC),
		.request_bytes = rte_cpu_to_be_32(service->request_bytes),
		.answer_bytes = rte_cpu_to_be_32(service->answer_bytes),
		.salt = connection->tcp.salt,
	};
}

void
weir_client_push(struct weir_clients *clients, struct weir_connection *connection)
{
	const struct weir_request request = request_of(clients, connection);
	const struct weir_tuple to = weir_client_tuple(clients, connection);

	weir_tcp_push(&clients->side, &connection->tcp, &to, (const uint8_t *)&request);
}

static void
send_datagram(struct weir_clients *clients, const struct weir_connection *connection)
{
	const struct weir_request request = request_of(clients, connection);
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_segment segment = {
		.tuple = weir_client_tuple(clients, connection),
		.payload_bytes = (uint16_t)service->request_bytes,
		.payload = weir_pattern_at(sizeof(request), connection->tcp.salt),
	};

	weir_side_send(&clients->side, &segment, (const uint8_t *)&request, sizeof(request), 0);
}

void
weir_client_begin_transaction(struct weir_clients *clients, struct weir_connection *connection,
			      uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	struct weir_tcp *tcp = &connection->tcp;

	tcp->salt++;
	tcp->retries = 0;
	tcp->awaited = tcp->expected;
	tcp->awaited_bytes = service->answer_bytes;
	connection->since_tsc = now_tsc;
	if (service->udp) {
		tcp->state = WEIR_CLIENT_DATAGRAM_SENT;
		send_datagram(clients, connection);
	} else {
		tcp->state = WEIR_CLIENT_WAITING;
		weir_tcp_begin_message(tcp, service->request_bytes);
		weir_client_push(clients, connection);
	}
	weir_client_wait_again(clients, connection, now_tsc);
}

static void
think(struct weir_clients *clients, struct weir_connection *connection)
{
	const struct weir_service *service = &clients->config.services[connection->service];

	connection->tcp.state = service->udp ? WEIR_CLIENT_DATAGRAM_THINKING : WEIR_CLIENT_THINKING;
}

void
weir_client_opened(struct weir_clients *clients, struct weir_connection *connection,
		   uint64_t now_tsc)
{
	if (!clients->paced) {
		weir_client_begin_transaction(clients, connection, now_tsc);
		return;
	}
	think(clients, connection);
	if (clients->hold)
		weir_client_add_idle(clients, connection);
	else
		weir_client_wait_for(clients, connection, now_tsc); /* and closes */
}

void
weir_client_open(struct weir_clients *clients, uint64_t now_tsc)
{
	const struct weir_connections_config *config = &clients->config;
	uint32_t pick =
		config->service_count == 1
			? 0
			: (uint32_t)(weir_random_next(&clients->side.random) % clients->weights);
	unsigned int service = 0;
	struct weir_connection *connection;
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
	connection->left =
		clients->hold || clients->paced ? 0 : config->services[service].transactions;
	connection->idle = false;
	connection->destination = clients->turn;
	connection->since_tsc = now_tsc;
	connection->link.due = 0;
	clients->turn = clients->turn + 1 == config->destination_count ? 0 : clients->turn + 1;
	tcp = &connection->tcp;
	*tcp = (struct weir_tcp){.salt = (uint8_t)weir_random_next(&clients->side.random)};
	if (config->services[service].udp) {
		weir_client_opened(clients, connection, now_tsc);
		return;
	}
	to = weir_client_tuple(clients, connection);
	tcp->unacknowledged = (uint32_t)weir_random_next(&clients->side.random);
	tcp->state = WEIR_CLIENT_SYN_SENT;
	weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_SYN_FLAG, tcp->unacknowledged);
	tcp->next = tcp->highest = tcp->unacknowledged + 1;
	weir_client_wait_again(clients, connection, now_tsc);
}

static void
close_it(struct weir_clients *clients, struct weir_connection *connection, uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	if (service->udp) {
		weir_client_complete(clients, connection);
		return;
	}
	weir_tcp_control(&clients->side, tcp, &to,
			 RTE_TCP_ACK_FLAG | (service->reset ? RTE_TCP_RST_FLAG : RTE_TCP_FIN_FLAG),
			 tcp->highest);
	if (service->reset) {
		weir_client_complete(clients, connection);
		return;
	}
	tcp->next = ++tcp->highest;
	tcp->state = WEIR_CLIENT_FIN_SENT;
	tcp->retries = 0;
	weir_client_wait_again(clients, connection, now_tsc);
}

/* When who thinks from now on goes on; or closes, which what is held must in its time. */
static uint64_t
thought_tsc(struct weir_clients *clients, const struct weir_service *service, uint64_t now_tsc)
{
	uint64_t then_tsc =
		now_tsc + (uint64_t)((double)service->think_ns * 1e-9 * (double)rte_get_tsc_hz());

	if (!clients->hold || then_tsc <= clients->hold_until_tsc + clients->closing_cycles)
		return then_tsc;
	/* At random, for not all of them are to close at once. */
	return clients->hold_until_tsc +
	       weir_random_next(&clients->side.random) % (clients->closing_cycles + 1);
}

/* The answer is whole. */
void
weir_client_end_transaction(struct weir_clients *clients, struct weir_connection *connection,
			    uint64_t now_tsc)
{
	const struct weir_service *service = &clients->config.services[connection->service];
	const struct weir_tuple to = weir_client_tuple(clients, connection);

	weir_histogram_add(&clients->transaction, now_tsc - connection->since_tsc);
	weir_count(&clients->side.count.transactions, 1);
	weir_count(&clients->services[connection->service].transactions, 1);
	if (connection->left > 0)
		connection->left--;
	if (connection->left == 0 && !clients->hold) {
		close_it(clients, connection, now_tsc);
		return;
	}
	if (service->think_ns == 0 && !clients->paced) {
		weir_client_begin_transaction(clients, connection, now_tsc);
		return;
	}
	if (!service->udp)
		weir_tcp_control(&clients->side, &connection->tcp, &to, RTE_TCP_ACK_FLAG,
				 connection->tcp.highest);
	think(clients, connection);
	if (clients->paced) {
		weir_client_add_idle(clients, connection);
		return;
	}
	weir_client_wait_for(clients, connection, thought_tsc(clients, service, now_tsc));
}

static bool
may_try_again(struct weir_clients *clients, struct weir_connection *connection)
{
	if (connection->tcp.retries == clients->side.retries) {
		weir_client_fail(clients, connection, WEIR_FAILED_NO_ANSWER);
		return false;
	}
	connection->tcp.retries++;
	return true;
}

static void
send_again(struct weir_clients *clients, struct weir_connection *connection)
{
	const struct weir_tuple to = weir_client_tuple(clients, connection);
	struct weir_tcp *tcp = &connection->tcp;

	switch (tcp->state) {
	case WEIR_CLIENT_SYN_SENT:
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_SYN_FLAG, tcp->unacknowledged);
		break;
	case WEIR_CLIENT_FIN_SENT:
		weir_tcp_control(&clients->side, tcp, &to, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
				 tcp->highest - 1);
		break;
	case WEIR_CLIENT_DATAGRAM_SENT:
		send_datagram(clients, connection);
		break;
	default:
		weir_tcp_go_back(tcp);
		weir_client_push(clients, connection);
		return; /* which counts what it sends again */
	}
	weir_count(&clients->side.count.retransmissions, 1);
}

void
weir_client_expire(struct weir_clients *clients, struct weir_connection *connection,
		   uint64_t now_tsc)
{
	switch (connection->tcp.state) {
	case WEIR_CLIENT_THINKING:
	case WEIR_CLIENT_DATAGRAM_THINKING:
		if (connection->left == 0 && !clients->hold)
			close_it(clients, connection, now_tsc);
		else
			weir_client_begin_transaction(clients, connection, now_tsc);
		return;
	case WEIR_CLIENT_WAITING:
		if (!weir_tcp_is_outstanding(&connection->tcp)) {
			weir_client_fail(clients, connection, WEIR_FAILED_NO_ANSWER);
			return;
		}
		break;
	case WEIR_CLIENT_FIN_ACKNOWLEDGED:
		weir_client_fail(clients, connection, WEIR_FAILED_NO_ANSWER);
		return;
	default:
		break;
	}
	if (may_try_again(clients, connection)) {
		send_again(clients, connection);
		weir_client_wait_again(clients, connection, now_tsc);
	}
}
