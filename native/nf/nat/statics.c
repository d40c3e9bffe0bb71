/* SPDX-License-Identifier: Apache-2.0 */
/* Static mappings (port forwarding): in slots of their own, given as an option or by a command. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nat.h"

#define ENTRY_SHOWN_BYTES 64

bool
nat_is_same(const struct nat_endpoint *one, const struct nat_endpoint *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

struct nat_session *
nat_static_at(const struct nat *nat, uint32_t number)
{
	uint32_t slot = nat->session_count + number;

	return nat->lives[slot].used ? &nat->sessions[slot] : NULL;
}

int
nat_static_room(const struct nat *nat, const struct nat_session *wanted, const char *where,
		uint32_t *number, struct weir_error *error)
{
	*number = NAT_NONE;
	for (uint32_t i = 0; i < NAT_STATICS_MAX; i++) {
		const struct nat_session *other = nat_static_at(nat, i);

		if (other == NULL)
			*number = RTE_MIN(*number, i);
		else if (nat_is_same(&other->external, &wanted->external) ||
			 nat_is_same(&other->inside, &wanted->inside))
			return weir_fail(error, "bad_argument", where, NULL,
					 "delete that mapping first",
					 "one of the two endpoints has a static mapping already");
	}
	if (*number == NAT_NONE)
		return weir_fail(error, "bad_state", where, "at most 1024 static mappings", NULL,
				 "there are as many static mappings as there can be");
	return 0;
}

/* "203.0.113.1:80" */
static bool
read_endpoint(char *text, uint8_t protocol, struct nat_endpoint *endpoint)
{
	char *colon = text != NULL ? strchr(text, ':') : NULL, *end;
	unsigned long port;

	if (colon == NULL || colon[1] < '0' || colon[1] > '9')
		return false;
	*colon = '\0';
	port = strtoul(colon + 1, &end, 10);
	*endpoint = (struct nat_endpoint){.port = htons(port), .protocol = protocol};
	return *end == '\0' && port >= 1 && port <= UINT16_MAX &&
	       inet_pton(AF_INET, text, &endpoint->ip) == 1;
}

/* "tcp 203.0.113.1:80 10.0.0.1:8080" */
static bool
read_forward(char *text, struct nat_session *session)
{
	char *rest;
	const char *protocol = strtok_r(text, " ", &rest);
	uint8_t number;

	if (protocol == NULL || (strcmp(protocol, "tcp") != 0 && strcmp(protocol, "udp") != 0))
		return false;
	number = protocol[0] == 't' ? IPPROTO_TCP : IPPROTO_UDP;
	memset(session, 0, sizeof(*session));
	return read_endpoint(strtok_r(NULL, " ", &rest), number, &session->external) &&
	       read_endpoint(strtok_r(NULL, " ", &rest), number, &session->inside) &&
	       session->inside.ip != 0 && strtok_r(NULL, " ", &rest) == NULL;
}

/* Of entry `number`, counted from 1. -1. */
static int
refuse(unsigned int number, const char *entry, const char *why, const char *where,
       struct weir_error *error)
{
	return weir_fail(error, "bad_argument", where,
			 "tcp or udp, an external endpoint and an inside one, each of them once; "
			 "mappings joined by commas",
			 "for example: tcp 203.0.113.1:80 10.0.0.1:8080",
			 "nat: mapping %u of `forwards`, '%s', %s", number, entry, why);
}

int
nat_forwards_init(struct nat *nat, const char *where, struct weir_error *error)
{
	char texts[WEIR_OPTION_TEXT_BYTES];
	char *rest = texts, *text;
	unsigned int number = 0;

	snprintf(texts, sizeof(texts), "%s", nat->forwards);
	while (nat->forwards[0] != '\0' && (text = strsep(&rest, ",")) != NULL) {
		char entry[ENTRY_SHOWN_BYTES];
		struct nat_session wanted;
		uint32_t slot;

		number++;
		snprintf(entry, sizeof(entry), "%.*s", ENTRY_SHOWN_BYTES - 1,
			 text + strspn(text, " "));
		if (!read_forward(text, &wanted))
			return refuse(number, entry, "is none", where, error);
		if (!nat_is_external(nat, wanted.external.ip))
			return refuse(number, entry, "begins at none of the external addresses",
				      where, error);
		if (nat_static_room(nat, &wanted, where, &slot, error) < 0)
			return refuse(number, entry, "has an endpoint of an earlier one", where,
				      error);
		nat_static_begin(nat, &nat->sessions[nat->session_count + slot], &wanted);
	}
	return 0;
}
