/* SPDX-License-Identifier: Apache-2.0 */
/* Back-ends come and go while packets flow: a new set is made beside the old one and takes its
 * place. */
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "lb.h"

struct arguments {
	char service[WEIR_OPTION_TEXT_BYTES];
	char backend[WEIR_OPTION_TEXT_BYTES];
};

static const struct weir_option arguments[] = {
	{
		.name = "service",
		.type = WEIR_OPTION_TEXT,
		.help = "The virtual service, such as 203.0.113.10:80/tcp.",
		.offset = offsetof(struct arguments, service),
	},
	{
		.name = "backend",
		.type = WEIR_OPTION_TEXT,
		.help = "The back-end, such as 10.0.0.1:8080.",
		.offset = offsetof(struct arguments, backend),
	},
};

struct prepared {
	enum lb_change change;
	uint16_t number; /* of the back-end */
	struct lb_set *set;
};

static int
prepare(const void *state, enum lb_change change, const void *given, const char *where,
	void **result, struct weir_error *error)
{
	const struct lb *lb = state;
	const struct arguments *texts = given;
	struct prepared *prepared = calloc(1, sizeof(*prepared));

	if (prepared == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	prepared->change = change;
	prepared->set = lb_set_changed(lb->set, change, texts->service, texts->backend,
				       &prepared->number, where, error);
	if (prepared->set == NULL) {
		free(prepared);
		return -1;
	}
	*result = prepared;
	return 0;
}

static int
prepare_add(const void *state, const void *given, const char *where, void **prepared,
	    struct weir_error *error)
{
	return prepare(state, LB_ADD, given, where, prepared, error);
}

static int
prepare_drain(const void *state, const void *given, const char *where, void **prepared,
	      struct weir_error *error)
{
	return prepare(state, LB_DRAIN, given, where, prepared, error);
}

static int
prepare_remove(const void *state, const void *given, const char *where, void **prepared,
	       struct weir_error *error)
{
	return prepare(state, LB_REMOVE, given, where, prepared, error);
}

/* Decisions of connections that a removed back-end had. */
static void
forget_connections(struct lb *lb, uint16_t number, struct weir_flow_cache *cache)
{
	if (cache == NULL)
		return;
	for (uint32_t i = 0; i < lb->connections_max; i++) {
		struct lb_connection *connection = &lb->connections[i];

		if (connection->key.protocol != 0 && connection->backend == number)
			weir_flow_cache_forget(cache, &connection->invalidation);
	}
}

/* What a new back-end sends was other traffic until now. */
static bool
is_sent_by(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	const struct lb_endpoint *backend = argument;

	return direction == WEIR_INBOUND && tuple->src_ip == backend->ip &&
	       tuple->src_port == backend->port && tuple->protocol == backend->protocol;
}

static void
commit(void *state, void *argument, struct weir_flow_cache *cache)
{
	struct lb *lb = state;
	struct prepared *prepared = argument;
	struct lb_set *before = lb->set;

	if (before->backends[prepared->number].state == LB_FREE)
		memset(&lb->sent[prepared->number], 0, sizeof(lb->sent[0]));
	lb->set = prepared->set;
	prepared->set = before;
	if (prepared->change == LB_REMOVE)
		forget_connections(lb, prepared->number, cache);
	else if (prepared->change == LB_ADD)
		weir_flow_cache_forget_if(cache, lb, is_sent_by,
					  &lb->set->backends[prepared->number].at);
}

static void
release(void *argument)
{
	struct prepared *prepared = argument;

	lb_set_free(prepared->set);
	free(prepared);
}

/* In the first round of the sweep a connection may have moved before it. */
static void
flush_commit(void *state, void *argument, struct weir_flow_cache *cache)
{
	struct lb *lb = state;

	(void)argument;
	(void)cache;
	lb->flush_left = 2 * lb->connections_max;
}

#define COMMAND(title, prepare_it, text)                                                           \
	{                                                                                          \
		.name = title, .help = text, .options = arguments,                                 \
		.option_count = RTE_DIM(arguments), .arguments_size = sizeof(struct arguments),    \
		.prepare = prepare_it, .commit = commit, .release = release,                       \
	}

const struct weir_command lb_commands[4] = {
	COMMAND("backend-add", prepare_add,
		"Adds a back-end to a service, or takes a draining one back: it gets its share of "
		"new connections."),
	COMMAND("backend-drain", prepare_drain,
		"No new connections for this back-end; those that it has stay with it."),
	COMMAND("backend-remove", prepare_remove,
		"Takes a back-end out: the next packet of each of its connections goes to another "
		"one."),
	{
		.name = "flush",
		.help = "Ends all connections that have no packets while the sweep goes round the "
			"table twice: 2 seconds of a large table, milliseconds of a small one.",
		.prepare = weir_command_prepares_nothing,
		.commit = flush_commit,
	},
};
