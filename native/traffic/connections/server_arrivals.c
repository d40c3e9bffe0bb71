/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives at the servers, which answer whatever request comes to their port, at any address.
 */
#include <string.h>

#include "server.h"
#include "traffic/random.h"

static void
take_syn(struct weir_servers *servers, const struct weir_segment *segment, uint64_t now_tsc)
{
	const struct weir_tuple to = weir_served_back(&segment->tuple);
	struct weir_served *one = weir_served_place(servers, &segment->tuple);
	struct weir_tcp *tcp;

	if (one == NULL) {
		weir_count(&servers->side.count.no_room, 1);
		return;
	}
	weir_count(&servers->side.count.opened, 1);
	tcp = &one->tcp;
	*tcp = (struct weir_tcp){
		.state = WEIR_SERVED_SYN_RECEIVED,
		.unacknowledged = (uint32_t)weir_random_next(&servers->side.random),
		.expected = segment->sequence + 1,
	};
	tcp->awaited = tcp->expected;
	tcp->next = tcp->highest = tcp->message = tcp->unacknowledged + 1;
	weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
			 tcp->unacknowledged);
	weir_served_wait_again(servers, one, now_tsc);
}

/* A SYN where there is a connection: the same one again, or another one's, which then learns from
 * our acknowledgement that there is an older one (RFC 9293, 3.5.1). */
static void
take_syn_again(struct weir_servers *servers, struct weir_served *one,
	       const struct weir_segment *segment)
{
	const struct weir_tuple to = weir_served_back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (tcp->state == WEIR_SERVED_SYN_RECEIVED && segment->sequence + 1 == tcp->expected) {
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
	struct weir_segment answer = {.tuple = weir_served_back(&segment->tuple)};
	struct weir_request request;

	if (!read_request(segment, &request) || request.request_bytes != segment->payload_bytes ||
	    request.answer_bytes > weir_datagram_bytes_max(segment->addresses != NULL) ||
	    !weir_pattern_matches(segment->payload + sizeof(request),
				  segment->payload_bytes - sizeof(request), sizeof(request),
				  request.salt)) {
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
	       weir_pattern_matches(segment->payload + known, segment->payload_bytes - known,
				    offset + known, tcp->salt);
}

/* False: the connection is no more, or the rest of the segment comes again. */
static bool
take_data(struct weir_servers *servers, struct weir_served *one, const struct weir_segment *segment,
	  uint64_t now_tsc)
{
	const struct weir_tuple to = weir_served_back(&one->key);
	struct weir_tcp *tcp = &one->tcp;
	uint32_t offset = tcp->expected - tcp->awaited;

	if (segment->sequence != tcp->expected || tcp->state != WEIR_SERVED_ESTABLISHED) {
		weir_count(&servers->side.count.out_of_order, 1);
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
		return false;
	}
	if (!is_request(tcp, segment, offset)) {
		weir_served_fail(servers, one, WEIR_FAILED_BAD_PAYLOAD);
		return false;
	}
	weir_count(&servers->side.count.payload_bytes, segment->payload_bytes);
	tcp->expected += segment->payload_bytes;
	tcp->owed++;
	if (offset + segment->payload_bytes == tcp->awaited_bytes) {
		weir_count(&servers->side.count.transactions, 1);
		tcp->awaited = tcp->expected;
		weir_tcp_begin_message(tcp, tcp->message_bytes);
		weir_served_push(servers, one);
		weir_served_wait_again(servers, one, now_tsc);
	} else if (weir_tcp_owes(tcp, segment)) {
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG, tcp->highest);
	}
	return true;
}

static void
take_fin(struct weir_servers *servers, struct weir_served *one, const struct weir_segment *segment,
	 uint64_t now_tsc)
{
	const struct weir_tuple to = weir_served_back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (segment->sequence + segment->payload_bytes != tcp->expected ||
	    tcp->state != WEIR_SERVED_ESTABLISHED || weir_tcp_is_outstanding(tcp))
		return; /* it comes again */
	tcp->expected++;
	weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG,
			 tcp->highest);
	tcp->next = ++tcp->highest;
	tcp->state = WEIR_SERVED_LAST_ACK;
	tcp->retries = 0;
	weir_served_wait_again(servers, one, now_tsc);
}

/* False: the connection is no more. */
static bool
take_acknowledgement(struct weir_servers *servers, struct weir_served *one,
		     const struct weir_segment *segment, uint64_t now_tsc)
{
	struct weir_tcp *tcp = &one->tcp;

	if (!weir_tcp_acknowledged(tcp, segment)) {
		if (tcp->duplicates == WEIR_DUPLICATES && tcp->state == WEIR_SERVED_ESTABLISHED) {
			tcp->duplicates = 0;
			weir_tcp_go_back(tcp);
			weir_served_push(servers, one);
		}
		return true;
	}
	if (tcp->state == WEIR_SERVED_SYN_RECEIVED) {
		tcp->state = WEIR_SERVED_ESTABLISHED;
		weir_count(&servers->side.count.established, 1);
	} else if (tcp->state == WEIR_SERVED_LAST_ACK && !weir_tcp_is_outstanding(tcp)) {
		weir_count(&servers->side.count.completed, 1);
		weir_served_release(servers, one);
		return false;
	} else if (tcp->state == WEIR_SERVED_ESTABLISHED) {
		weir_served_push(servers, one);
	}
	if (weir_tcp_is_outstanding(tcp))
		weir_served_wait_again(servers, one, now_tsc);
	else
		weir_wheel_disarm(&servers->side.wheel, weir_served_number(servers, one));
	return true;
}

static void
take(struct weir_servers *servers, struct weir_served *one, const struct weir_segment *segment,
     uint64_t now_tsc)
{
	if ((segment->flags & RTE_TCP_RST_FLAG) != 0) {
		/* At the next byte, or of a client that gave up at one that was lost. */
		if ((int32_t)(segment->sequence - one->tcp.expected) >= 0)
			weir_served_fail(servers, one, WEIR_FAILED_RESET);
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
static struct weir_served *
found(struct weir_servers *servers, const struct weir_segment *segment, uint32_t number)
{
	if (unlikely(servers->has_changed)) {
		const void *key = &segment->tuple;

		weir_flow_table_find(servers->table, &key, &number, 1);
	}
	return number != WEIR_FLOW_NONE ? &servers->served[number] : NULL;
}

uint32_t
weir_servers_receive(struct weir_servers *servers, uint64_t now_tsc)
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
		struct weir_served *one;

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
