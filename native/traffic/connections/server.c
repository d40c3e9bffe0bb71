/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a connection at the servers: its place, its end, what is sent again. */
#include "server.h"

struct weir_served *
weir_served_place(struct weir_servers *servers, const struct weir_tuple *key)
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

void
weir_served_release(struct weir_servers *servers, struct weir_served *one)
{
	uint32_t number = weir_served_number(servers, one);

	weir_wheel_disarm(&servers->side.wheel, number);
	weir_flow_table_take(servers->table, number);
	servers->has_changed = true;
	one->tcp.state = WEIR_SERVED_FREE;
	one->link.next = WEIR_WHEEL_NONE;
	if (servers->freed_first == WEIR_WHEEL_NONE)
		servers->freed_first = number;
	else
		servers->served[servers->freed_last].link.next = number;
	servers->freed_last = number;
	weir_count(&servers->side.count.open, (uint64_t)-1);
}

void
weir_served_fail(struct weir_servers *servers, struct weir_served *one, enum weir_failure why)
{
	const struct weir_tuple to = weir_served_back(&one->key);

	if (why != WEIR_FAILED_RESET)
		weir_tcp_control(&servers->side, &one->tcp, &to,
				 RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, one->tcp.highest);
	weir_count(&servers->side.count.failed[why], 1);
	weir_served_release(servers, one);
}

void
weir_served_wait_again(struct weir_servers *servers, struct weir_served *one, uint64_t now_tsc)
{
	weir_wheel_arm(&servers->side.wheel, weir_served_number(servers, one),
		       now_tsc + weir_side_timeout(&servers->side, one->tcp.retries));
}

void
weir_served_push(struct weir_servers *servers, struct weir_served *one)
{
	const struct weir_tuple to = weir_served_back(&one->key);

	weir_tcp_push(&servers->side, &one->tcp, &to, NULL);
}

void
weir_served_expire(struct weir_servers *servers, struct weir_served *one, uint64_t now_tsc)
{
	const struct weir_tuple to = weir_served_back(&one->key);
	struct weir_tcp *tcp = &one->tcp;

	if (tcp->retries == servers->side.retries) {
		weir_served_fail(servers, one, WEIR_FAILED_NO_ANSWER);
		return;
	}
	tcp->retries++;
	weir_served_wait_again(servers, one, now_tsc);
	if (tcp->state == WEIR_SERVED_ESTABLISHED) {
		weir_tcp_go_back(tcp);
		weir_served_push(servers, one);
		return;
	}
	weir_count(&servers->side.count.retransmissions, 1);
	if (tcp->state == WEIR_SERVED_SYN_RECEIVED)
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
				 tcp->unacknowledged);
	else
		weir_tcp_control(&servers->side, tcp, &to, RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG,
				 tcp->highest - 1);
}
