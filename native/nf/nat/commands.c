/* SPDX-License-Identifier: Apache-2.0 */
/* Changes while packets flow: static mappings (port forwarding), and the end of all others. */
#include <stdlib.h>

#include "nat.h"

enum { FORWARDED_TCP, FORWARDED_UDP };
static const char *const protocol_names[] = {"tcp", "udp", NULL};

/* Arguments of static-add and static-delete. */
struct endpoint_arguments {
	unsigned int protocol;
	uint32_t external_ip;
	uint64_t external_port;
	uint32_t inside_ip;
	uint64_t inside_port;
};

/* What a static mapping becomes, or which one ends. */
struct static_change {
	uint32_t number;
	struct nat_session session;
};

static const struct weir_option endpoint_options[] = {
	{
		.name = "protocol",
		.type = WEIR_OPTION_ENUM,
		.default_text = "tcp",
		.values = protocol_names,
		.help = "Protocol of the external port.",
		.offset = offsetof(struct endpoint_arguments, protocol),
	},
	{
		.name = "external",
		.type = WEIR_OPTION_IPV4,
		.help = "External address; not given: the first one.",
		.offset = offsetof(struct endpoint_arguments, external_ip),
	},
	{
		.name = "external_port",
		.type = WEIR_OPTION_INT,
		.min = 1,
		.max = UINT16_MAX,
		.help = "External port, inside the range for dynamic mappings or not.",
		.offset = offsetof(struct endpoint_arguments, external_port),
	},
	{
		.name = "inside",
		.type = WEIR_OPTION_IPV4,
		.help = "Address of the inside host.",
		.offset = offsetof(struct endpoint_arguments, inside_ip),
	},
	{
		.name = "inside_port",
		.type = WEIR_OPTION_INT,
		.min = 1,
		.max = UINT16_MAX,
		.help = "Port of the inside host; not given: the external port.",
		.offset = offsetof(struct endpoint_arguments, inside_port),
	},
};
/* The first three say which static mapping. */
#define EXTERNAL_OPTIONS 3

/* The endpoint that the arguments name; static slots are configuration, so that the control thread
 * may read them. */
static int
read_endpoint(const struct nat *nat, const struct endpoint_arguments *arguments, const char *where,
	      struct nat_session *session, struct weir_error *error)
{
	uint8_t protocol = arguments->protocol == FORWARDED_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	uint64_t inside_port =
		arguments->inside_port != 0 ? arguments->inside_port : arguments->external_port;

	*session = (struct nat_session){
		.inside = {.ip = arguments->inside_ip,
			   .port = rte_cpu_to_be_16(inside_port),
			   .protocol = protocol},
		.external = {.ip = arguments->external_ip != 0 ? arguments->external_ip
							       : nat->external.address,
			     .port = rte_cpu_to_be_16(arguments->external_port),
			     .protocol = protocol},
	};
	if (arguments->external_port == 0)
		return weir_fail(error, "bad_argument", where, "external_port", NULL,
				 "no external port was given");
	if (!nat_is_external(nat, session->external.ip))
		return weir_fail(error, "bad_argument", where,
				 "an address of the option `external` of nat", NULL,
				 "the address is not one of this NAT's");
	return 0;
}

static int
add_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	    struct weir_error *error)
{
	const struct nat *nat = state;
	struct static_change change = {.number = NAT_NONE};
	struct static_change *kept;

	if (read_endpoint(nat, arguments, where, &change.session, error) < 0)
		return -1;
	if (change.session.inside.ip == 0)
		return weir_fail(error, "bad_argument", where, "inside", NULL,
				 "no inside address was given");
	if (nat_static_room(nat, &change.session, where, &change.number, error) < 0)
		return -1;
	kept = malloc(sizeof(*kept));
	if (kept == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	*kept = change;
	*prepared = kept;
	return 0;
}

static void
end_dynamic(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	if (session != NULL)
		nat_session_end(nat, session, cache);
}

/* Dynamic mappings of either endpoint give way. */
static void
add_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	const struct static_change *change = prepared;
	const struct nat_session *wanted = &change->session;
	struct nat *nat = state;

	end_dynamic(nat,
		    nat_session_find(nat, nat->by_inside, wanted->inside.ip, wanted->inside.port,
				     wanted->inside.protocol),
		    cache);
	end_dynamic(nat,
		    nat_session_find(nat, nat->by_external, wanted->external.ip,
				     wanted->external.port, wanted->external.protocol),
		    cache);
	nat_static_begin(nat, &nat->sessions[nat->session_count + change->number], wanted);
}

static int
delete_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct nat *nat = state;
	struct static_change *change = malloc(sizeof(*change));

	if (change == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	if (read_endpoint(nat, arguments, where, &change->session, error) < 0)
		goto failed;
	for (change->number = 0; change->number < NAT_STATICS_MAX; change->number++) {
		const struct nat_session *session = nat_static_at(nat, change->number);

		if (session != NULL && nat_is_same(&session->external, &change->session.external)) {
			*prepared = change;
			return 0;
		}
	}
	weir_fail(error, "bad_argument", where, NULL, NULL,
		  "there is no static mapping of that external endpoint");
failed:
	free(change);
	return -1;
}

static void
delete_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	const struct static_change *change = prepared;
	struct nat *nat = state;

	nat_static_end(nat, nat_static_at(nat, change->number), cache);
}

/* A million mappings at once would take the core away for long: the sweep of tick() ends them. */
static void
flush_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct nat *nat = state;

	(void)prepared;
	(void)cache;
	nat->generation++;
}

const struct weir_command nat_commands[NAT_COMMANDS] = {
	{
		.name = "flush",
		.help = "Ends all dynamic mappings that there are now, within 4 seconds; static "
			"ones stay.",
		.prepare = weir_command_prepares_nothing,
		.commit = flush_commit,
	},
	{
		.name = "static-add",
		.help = "Maps an external endpoint to an inside one, open to all remotes, until it "
			"is deleted.",
		.options = endpoint_options,
		.option_count = RTE_DIM(endpoint_options),
		.arguments_size = sizeof(struct endpoint_arguments),
		.prepare = add_prepare,
		.commit = add_commit,
		.release = free,
	},
	{
		.name = "static-delete",
		.help = "Ends the static mapping of that external endpoint.",
		.options = endpoint_options,
		.option_count = EXTERNAL_OPTIONS,
		.arguments_size = sizeof(struct endpoint_arguments),
		.prepare = delete_prepare,
		.commit = delete_commit,
		.release = free,
	},
};
