/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that stay open, and wait for transactions that are due at a rate of their own. */
#include "client.h"

#define BEGIN_MOST 32 /* of one poll */

void
weir_client_add_idle(struct weir_clients *clients, struct weir_connection *connection)
{
	uint32_t number = weir_client_number(clients, connection);

	weir_wheel_disarm(&clients->side.wheel, number);
	connection->idle = true;
	connection->left = 0; /* once the others may close, it closes */
	connection->link.next = WEIR_WHEEL_NONE;
	connection->link.previous = clients->idle_last;
	if (clients->idle_last == WEIR_WHEEL_NONE)
		clients->idle_first = number;
	else
		clients->connections[clients->idle_last].link.next = number;
	clients->idle_last = number;
}

void
weir_client_remove_idle(struct weir_clients *clients, struct weir_connection *connection)
{
	const struct weir_link *link = &connection->link;

	if (!connection->idle)
		return;
	connection->idle = false;
	if (link->previous == WEIR_WHEEL_NONE)
		clients->idle_first = link->next;
	else
		clients->connections[link->previous].link.next = link->next;
	if (link->next == WEIR_WHEEL_NONE)
		clients->idle_last = link->previous;
	else
		clients->connections[link->next].link.previous = link->previous;
}

/* The one that is idle for longest, no longer among them; NULL: none is. */
static struct weir_connection *
take_idle(struct weir_clients *clients)
{
	struct weir_connection *connection;

	if (clients->idle_first == WEIR_WHEEL_NONE)
		return NULL;
	connection = &clients->connections[clients->idle_first];
	weir_client_remove_idle(clients, connection);
	return connection;
}

uint32_t
weir_clients_begin_due(struct weir_clients *clients, uint64_t now_tsc)
{
	uint64_t had = clients->transactions_begun + clients->transactions_missed, due = 0;
	struct weir_connection *connection;
	uint32_t handled = 0;

	if (!clients->paced)
		return 0;
	if (clients->hold) {
		due = weir_pacing_due(&clients->transactions, now_tsc, had + BEGIN_MOST);
		due = due > had ? RTE_MIN(due - had, (uint64_t)BEGIN_MOST) : 0;
	}
	for (; handled < due; handled++) {
		connection = take_idle(clients);
		if (connection == NULL) {
			clients->transactions_missed += due - handled;
			break;
		}
		clients->transactions_begun++;
		weir_client_begin_transaction(clients, connection, now_tsc);
	}
	while (!clients->hold && handled < BEGIN_MOST &&
	       (connection = take_idle(clients)) != NULL) {
		weir_client_expire(clients, connection, now_tsc);
		handled++;
	}
	return handled;
}

bool
weir_clients_hold_is_over(const struct weir_clients *clients, uint64_t now_tsc)
{
	uint64_t had = clients->transactions_begun + clients->transactions_missed;

	return now_tsc >= clients->hold_until_tsc &&
	       (!clients->paced || now_tsc > clients->deadline_tsc ||
		weir_pacing_ended(&clients->transactions, had));
}
