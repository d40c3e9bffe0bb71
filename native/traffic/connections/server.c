/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area of the servers: answers whatever request comes to its port, at any address. Connections
 * are found by the five-tuple that arrives. A datagram's answer needs no state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "packet/flow_table.h"
#include "side.h"
#include "traffic/random.h"

#define EXPIRE_MOST 32

enum state { FREE, SYN_RECEIVED, ESTABLISHED, LAST_ACK };

struct served {
	struct weir_tuple key; /* first: as it arrives */
	struct weir_tcp tcp;
	struct weir_link link;
};
static_assert(sizeof(struct served) == 64, "one cache line");

struct weir_servers {
	struct weir_side side; /* first */
	uint32_t capacity;
	struct served *served; /* NULL: not configured */
	struct weir_flow_table *table;
	uint32_t fresh;			  /* numbers from here on were not used in this run */
	uint32_t freed_first, freed_last; /* oldest first */
	bool has_changed;		  /* the table, since the burst was looked up */
};

static struct weir_servers *weir_servers;

struct weir_side *
weir_servers_side(void)
{
	return weir_servers != NULL ? &weir_servers->side : NULL;
}

static inline uint32_t
number_of(const struct weir_servers *servers, const struct served *one)
{
	return (uint32_t)(one - servers->served);
}

static inline struct weir_tuple
back(const struct weir_tuple *tuple)
{
	return (struct weir_tuple){
		.src_ip = tuple->dst_ip,
		.dst_ip = tuple->src_ip,
		.src_port = tuple->dst_port,
		.dst_port = tuple->src_port,
		.protocol = tuple->protocol,
	};
}

static struct served *
take_place(struct weir_servers *servers, const struct weir_tuple *key)
{
	uint32_t number = servers->freed_first;

	if (servers->fresh < servers->capacity)
		number = servers->fresh;
	if (number == WEIR_WHEEL_NONE)
		return NULL;
	servers->served[number].key = *key;
	if (!weir_flow_table_put(servers->table, number))
		return NULL;
	if (number == servers->fresh)
		servers->fresh++;
	else
		servers->freed_first = servers->served[number].link.next;
	servers->has_changed = true;
	servers->served[number].link.due = 0;
	weir_count(&servers->side.count.open, 1);
	return &servers->served[number];
}

static void
release(struct weir_servers *servers, struct served *one)
{
	uint32_t number = number_of(servers, one);

	weir_wheel_disarm(&servers->side.wheel, number);
	weir_flow_table_take(servers->table, number);
	servers->has_changed = true;
	one->tcp.state = FREE;
	one->link.next = WEIR_WHEEL_NONE;
	if (servers->freed_first == WEIR_WHEEL_NONE)
		servers->freed_first = number;
	else
		servers->served[servers->freed_last].link.next = number;
	servers->freed_last = number;
	weir_count(&servers->side.count.open, (uint64_t)-1);
}

static void
fail(struct weir_servers *servers, struct served *one, enum weir_failure why)
{
	const struct weir_tuple to = back(&one->key);

	if (why != WEIR_FAILED_RESET)
		weir_tcp_control(&servers->side, &one->tcp, &to,
				 RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, one->tcp.highest);
	weir_count(&servers->side.count.failed[why], 1);
	release(servers, one);
}

static void
wait_again(struct weir_servers *servers, struct served *one, uint64_t now_tsc)
{
	weir_wheel_arm(&servers->side.wheel, number_of(servers, one),
		       now_tsc + weir_side_timeout(&servers->side, one->tcp.retries));
}

static void
push(struct weir_servers *servers, struct served *one)
{
	const struct weir_tuple to = back(&one->key);

	weir_tcp_push(&servers->side, &one->tcp, &to, NULL);
}

static void
take_syn(struct weir_servers *servers, const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = back(&segment->tuple);
	struct served *one = take_place(servers, &segment->tuple);
	struct weir_tcp *tcp;

	if (one == NULL) {
		weir_count(&servers->side.count.no_room, 1);
		return;
	}
	weir_count(&servers->side.count.opened, 1);
	tcp = &one->tcp;
	*tcp = (struct weir_tcp){
		.state = SYN_RECEIVED,
		.unacknowledged = (uint32_t)weir_random_next(&servers->side.random),
		.expected = segment->sequence + 1,
	};
	tcp->awaited = tcp->expected;
	tcp->next = tcp->highest = tcp->message = tcp->unacknowledged + 1;
	weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
			 tcp->unacknowledged);
	wait_again(servers, one, now_tsc);
}

/* A SYN where there is a connection: the same one again, or another one's, which then learns from
 * our acknowledgement that there is an older one (RFC 9293, 3.5.1). */
static void
take_syn_again(struct weir_servers *servers, struct served *one, const struct weir_segment *segment)
{
	const struct weir_tuple to = back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (tcp->state == SYN_RECEIVED && segment->sequence + 1 == tcp->expected) {
		weir_count(&servers->side.count.retransmissions, 1);
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
				 tcp->unacknowledged);
		return;
	}
	weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
}

/* The request's beginning; false: it is none of ours. */
static bool
read_request(const struct weir_segment *segment, struct weir_request *request)
{
	if (segment->payload_bytes < sizeof(*request))
		return false;
	memcpy(request, segment->payload, sizeof(*request));
	request->request_bytes = rte_be_to_cpu_32(request->request_bytes);
	request->answer_bytes = rte_be_to_cpu_32(request->answer_bytes);
	return request->magic == rte_cpu_to_be_32(WEIR_REQUEST_MAGIC) &&
	       request->request_bytes >= sizeof(*request) && request->answer_bytes > 0;
}

static void
take_datagram(struct weir_servers *servers, const struct weir_segment *segment)
{
	struct weir_segment answer = {.tuple = back(&segment->tuple)};
	struct weir_request request;

	if (!read_request(segment, &request) || request.request_bytes != segment->payload_bytes ||
	    request.answer_bytes > WEIR_DATAGRAM_BYTES_MAX ||
	    memcmp(segment->payload + sizeof(request),
		   weir_pattern_at(sizeof(request), request.salt),
		   segment->payload_bytes - sizeof(request)) != 0) {
		weir_count(&servers->side.count.not_ours, 1);
		return;
	}
	weir_count(&servers->side.count.payload_bytes, segment->payload_bytes);
	weir_count(&servers->side.count.transactions, 1);
	answer.payload_bytes = (uint16_t)request.answer_bytes;
	answer.payload = weir_pattern_at(0, request.salt);
	weir_side_send(&servers->side, &answer, NULL, 0, 0);
}

/* Whether the payload is what a client sends there; notes what its beginning says. */
static bool
is_request(struct weir_tcp *tcp, const struct weir_segment *segment, uint32_t offset)
{
	uint16_t known = 0;

	if (offset == 0) {
		struct weir_request request;

		if (!read_request(segment, &request))
			return false;
		tcp->awaited_bytes = request.request_bytes;
		tcp->message_bytes = request.answer_bytes;
		tcp->salt = request.salt;
		known = sizeof(request);
	}
	return segment->payload_bytes <= tcp->awaited_bytes - offset &&
	       memcmp(segment->payload + known, weir_pattern_at(offset + known, tcp->salt),
		      segment->payload_bytes - known) == 0;
}

/* False: the connection is no more, or the rest of the segment comes again. */
static bool
take_data(struct weir_servers *servers, struct served *one, const struct weir_segment *segment,
	  uint64_t now_tsc)
{
	const struct weir_tuple to = back(&one->key);
	struct weir_tcp *tcp = &one->tcp;
	uint32_t offset = tcp->expected - tcp->awaited;

	if (segment->sequence != tcp->expected || tcp->state != ESTABLISHED) {
		weir_count(&servers->side.count.out_of_order, 1);
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return false;
	}
	if (!is_request(tcp, segment, offset)) {
		fail(servers, one, WEIR_FAILED_BAD_PAYLOAD);
		return false;
	}
	weir_count(&servers->side.count.payload_bytes, segment->payload_bytes);
	tcp->expected += segment->payload_bytes;
	tcp->owed++;
	if (offset + segment->payload_bytes == tcp->awaited_bytes) {
		weir_count(&servers->side.count.transactions, 1);
		tcp->awaited = tcp->expected;
		weir_tcp_begin_message(tcp, tcp->message_bytes);
		push(servers, one);
		wait_again(servers, one, now_tsc);
	} else if (weir_tcp_owes(tcp, segment)) {
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	}
	return true;
}

static void
take_fin(struct weir_servers *servers, struct served *one, const struct weir_segment *segment,
	 uint64_t now_tsc)
{
	const struct weir_tuple to = back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (segment->sequence + segment->payload_bytes != tcp->expected ||
	    tcp->state != ESTABLISHED || weir_tcp_is_outstanding(tcp))
		return; /* it comes again */
	tcp->expected++;
	weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
			 tcp->highest);
	tcp->next = ++tcp->highest;
	tcp->state = LAST_ACK;
	tcp->retries = 0;
	wait_again(servers, one, now_tsc);
}

/* False: the connection is no more. */
static bool
take_acknowledgement(struct weir_servers *servers, struct served *one,
		     const struct weir_segment *segment, uint64_t now_tsc)
{
	struct weir_tcp *tcp = &one->tcp;

	if (!weir_tcp_acknowledged(tcp, segment)) {
		if (tcp->duplicates == WEIR_DUPLICATES && tcp->state == ESTABLISHED) {
			tcp->duplicates = 0;
			weir_tcp_go_back(tcp);
			push(servers, one);
		}
		return true;
	}
	if (tcp->state == SYN_RECEIVED) {
		tcp->state = ESTABLISHED;
		weir_count(&servers->side.count.established, 1);
	} else if (tcp->state == LAST_ACK && !weir_tcp_is_outstanding(tcp)) {
		weir_count(&servers->side.count.completed, 1);
		release(servers, one);
		return false;
	} else if (tcp->state == ESTABLISHED) {
		push(servers, one);
	}
	if (weir_tcp_is_outstanding(tcp))
		wait_again(servers, one, now_tsc);
	else
		weir_wheel_disarm(&servers->side.wheel, number_of(servers, one));
	return true;
}

static void
take(struct weir_servers *servers, struct served *one, const struct weir_segment *segment,
     uint64_t now_tsc)
{
	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		/* At the next byte, or of a client that gave up at one that was lost. */
		if ((int32_t)(segment->sequence - one->tcp.expected) >= 0)
			fail(servers, one, WEIR_FAILED_RESET);
		return;
	}
	if ((segment->flags & RTE_TCP_SYN_FLAG) != 0) {
		take_syn_again(servers, one, segment);
		return;
	}
	if (!take_acknowledgement(servers, one, segment, now_tsc))
		return;
	if (segment->payload_bytes > 0 && !take_data(servers, one, segment, now_tsc))
		return;
	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0)
		take_fin(servers, one, segment, now_tsc);
}

/* The connection of a segment, whose number was looked up with the burst. */
static struct served *
found(struct weir_servers *servers, const struct weir_segment *segment, uint32_t number)
{
	if (unlikely(servers->has_changed)) {
		const void *key = &segment->tuple;

		weir_flow_table_find(servers->table, &key, &number, 1);
	}
	return number != WEIR_FLOW_NONE ? &servers->served[number] : NULL;
}

static uint32_t
receive(struct weir_servers *servers, uint64_t now_tsc)
{
	struct weir_segment segments[WEIR_SIDE_BURST];
	struct rte_mbuf *packets[WEIR_SIDE_BURST];
	const void *keys[WEIR_SIDE_BURST];
	uint32_t numbers[WEIR_SIDE_BURST];
	uint16_t count = weir_side_receive(&servers->side, packets, segments);

	if (count == 0)
		return 0;
	for (uint16_t i = 0; i < count; i++)
		keys[i] = &segments[i].tuple;
	weir_flow_table_find(servers->table, keys, numbers, count);
	servers->has_changed = false;
	for (uint16_t i = 0; i < count; i++) {
		const struct weir_segment *segment = &segments[i];
		struct served *one;

		if (segment->tuple.protocol == IPPROTO_UDP) {
			take_datagram(servers, segment);
			continue;
		}
		one = found(servers, segment, numbers[i]);
		if (one != NULL)
			take(servers, one, segment, now_tsc);
		else if ((segment->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG |
					    RTE_TCP_RST_FLAG)) == RTE_TCP_SYN_FLAG)
			take_syn(servers, segment, now_tsc);
		else
			weir_count(&servers->side.count.not_ours, 1);
	}
	rte_pktmbuf_free_bulk(packets, count);
	return count;
}

static void
expire(struct weir_servers *servers, struct served *one, uint64_t now_tsc)
{
	const struct weir_tuple to = back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (tcp->retries == servers->side.retries) {
		fail(servers, one, WEIR_FAILED_NO_ANSWER);
		return;
	}
	tcp->retries++;
	wait_again(servers, one, now_tsc);
	if (tcp->state == ESTABLISHED) {
		weir_tcp_go_back(tcp);
		push(servers, one);
		return;
	}
	weir_count(&servers->side.count.retransmissions, 1);
	if (tcp->state == SYN_RECEIVED)
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
				 tcp->unacknowledged);
	else
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG,
				 tcp->highest - 1);
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct weir_servers *servers = (struct weir_servers *)(void *)area;
	uint32_t numbers[EXPIRE_MOST], handled = receive(servers, now_tsc);
	unsigned int expired;

	if (!servers->side.running)
		return handled;
	expired = weir_wheel_expire(&servers->side.wheel, now_tsc, numbers, EXPIRE_MOST);
	for (unsigned int i = 0; i < expired; i++)
		expire(servers, &servers->served[numbers[i]], now_tsc);
	weir_side_flush(&servers->side);
	return handled + expired;
}

/* --- control -----------------------------------------------------------------------------------
 */

struct weir_area *
weir_servers_create(const char *name, unsigned int core, const struct weir_queue *queue,
		    uint16_t port_id, struct weir_error *error)
{
	struct weir_servers *servers;

	if (weir_servers != NULL) {
		weir_fail(error, "bad_argument", name, "one area of servers", NULL,
			  "there are servers already: '%s'", weir_servers->side.area.name);
		return NULL;
	}
	servers = calloc(1, sizeof(*servers));
	if (servers == NULL) {
		weir_fail(error, "no_memory", name, NULL, NULL, "no memory");
		return NULL;
	}
	snprintf(servers->side.name, sizeof(servers->side.name), "%s", name);
	servers->side.area = (struct weir_area){
		.poll = poll,
		.name = servers->side.name,
		.core = core,
	};
	servers->side.queue = *queue;
	servers->side.port_id = port_id;
	weir_servers = servers;
	return &servers->side.area;
}

void
weir_servers_destroy(struct weir_area *area)
{
	weir_servers_forget();
	free(area);
	weir_servers = NULL;
}

int
weir_servers_prepare(const struct weir_connections_config *config, struct weir_error *error)
{
	uint32_t capacity =
		config->source_count * (config->source_port_last - config->source_port_first + 1u);
	struct served *served = weir_side_memory(capacity * sizeof(*served));
	struct weir_flow_table *table = NULL;

	if (served != NULL)
		table = weir_flow_table_create(capacity, served, sizeof(*served));
	if (table == NULL) {
		weir_side_memory_free(served, capacity * sizeof(*served));
		return weir_fail(error, "no_memory", "servers", NULL, "give weir-dp more --memory",
				 "no memory for %u connections", capacity);
	}
	if (weir_side_prepare(&weir_servers->side, &config->servers, config, error) < 0) {
		weir_flow_table_free(table);
		weir_side_memory_free(served, capacity * sizeof(*served));
		return -1;
	}
	weir_servers_forget();
	weir_servers->capacity = capacity;
	weir_servers->served = served;
	weir_servers->table = table;
	weir_servers->side.random = ~config->seed;
	return 0;
}

void
weir_servers_forget(void)
{
	if (weir_servers == NULL)
		return;
	weir_servers->side.running = false;
	if (weir_servers->table != NULL)
		weir_flow_table_free(weir_servers->table);
	weir_side_memory_free(weir_servers->served, weir_servers->capacity * sizeof(struct served));
	weir_servers->table = NULL;
	weir_servers->served = NULL;
	weir_servers->fresh = 0;
}

void
weir_servers_begin(uint64_t start_tsc)
{
	struct weir_servers *servers = weir_servers;

	for (uint32_t i = 0; i < servers->fresh; i++) {
		if (servers->served[i].tcp.state != FREE)
			weir_flow_table_take(servers->table, i);
		servers->served[i].tcp.state = FREE;
		servers->served[i].link.due = 0;
	}
	servers->fresh = 0;
	servers->freed_first = servers->freed_last = WEIR_WHEEL_NONE;
	weir_wheel_begin(&servers->side.wheel, &servers->served[0].link, sizeof(struct served),
			 rte_get_tsc_hz(), start_tsc);
	memset(&servers->side.count, 0, sizeof(servers->side.count));
	servers->side.running = true;
}
