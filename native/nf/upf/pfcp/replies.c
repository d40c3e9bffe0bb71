/* SPDX-License-Identifier: Apache-2.0 */
#include "replies.h"

#include <assert.h>

#include <rte_malloc.h>

#include "packet/flow_table.h"

/* What tells one request from all others of late. */
struct key {
	uint32_t ip;
	uint16_t port;
	uint8_t message; /* 0: no reply is here */
	uint8_t zero;
	uint32_t sequence;
	uint32_t zero_too;
};
static_assert(sizeof(struct key) == WEIR_FLOW_KEY_BYTES, "a key without holes");

struct reply {
	struct key key;
	struct pfcp_writer response;
};

struct pfcp_replies {
	struct weir_flow_table *by_key;
	uint32_t next;
	struct reply reply[PFCP_REPLIES_MAX];
};

static struct key
key_of(struct pfcp_peer from, const struct pfcp_request *request)
{
	return (struct key){.ip = from.ip,
			    .port = from.port,
			    .message = (uint8_t)request->message,
			    .sequence = request->sequence};
}

struct pfcp_replies *
pfcp_replies_create(void)
{
	struct pfcp_replies *replies = rte_zmalloc("pfcp replies", sizeof(*replies), 0);

	if (replies == NULL)
		return NULL;
	replies->by_key = weir_flow_table_create(PFCP_REPLIES_MAX, &replies->reply[0].key,
						 sizeof(replies->reply[0]));
	if (replies->by_key != NULL)
		return replies;
	rte_free(replies);
	return NULL;
}

void
pfcp_replies_free(struct pfcp_replies *replies)
{
	if (replies == NULL)
		return;
	weir_flow_table_free(replies->by_key);
	rte_free(replies);
}

const struct pfcp_writer *
pfcp_replies_find(const struct pfcp_replies *replies, struct pfcp_peer from,
		  const struct pfcp_request *request)
{
	const struct key key = key_of(from, request);
	const void *asked[1] = {&key};
	uint32_t number;

	weir_flow_table_find(replies->by_key, asked, &number, 1);
	return number != WEIR_FLOW_NONE ? &replies->reply[number].response : NULL;
}

struct pfcp_writer *
pfcp_replies_add(struct pfcp_replies *replies, struct pfcp_peer from,
		 const struct pfcp_request *request)
{
	const uint32_t number = replies->next;
	struct reply *reply = &replies->reply[number];

	if (reply->key.message != 0)
		weir_flow_table_take(replies->by_key, number);
	reply->key = key_of(from, request);
	weir_flow_table_put(replies->by_key, number);
	replies->next = (number + 1) % PFCP_REPLIES_MAX;
	return &reply->response;
}

void
pfcp_replies_forget(struct pfcp_replies *replies, uint32_t ip)
{
	for (uint32_t number = 0; number < PFCP_REPLIES_MAX; number++) {
		struct key *key = &replies->reply[number].key;

		if (key->message == 0 || key->ip != ip)
			continue;
		weir_flow_table_take(replies->by_key, number);
		*key = (struct key){0};
	}
}
