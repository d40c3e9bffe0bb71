/* SPDX-License-Identifier: Apache-2.0 */
#include "endpoint.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "192.0.2.1:80"; false: it is not. */
static bool
parse_address(const char *text, struct lb_endpoint *endpoint)
{
	const char *colon = strrchr(text, ':');
	char address[INET_ADDRSTRLEN];
	unsigned long port;
	char *end;

	if (colon == NULL || colon[1] < '0' || colon[1] > '9' ||
	    (size_t)(colon - text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(colon - text), text);
	port = strtoul(colon + 1, &end, 10);
	endpoint->port = htons(port);
	return *end == '\0' && port >= 1 && port <= UINT16_MAX &&
	       inet_pton(AF_INET, address, &endpoint->ip) == 1;
}

/* "192.0.2.1:80/tcp". */
static bool
parse_service(const char *text, struct lb_endpoint *endpoint)
{
	const char *slash = strchr(text, '/');
	char address[LB_ENDPOINT_TEXT];

	if (slash == NULL || (size_t)(slash - text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	endpoint->role = LB_VIP;
	if (strcmp(slash, "/tcp") == 0)
		endpoint->protocol = IPPROTO_TCP;
	else if (strcmp(slash, "/udp") == 0)
		endpoint->protocol = IPPROTO_UDP;
	else
		return false;
	return parse_address(address, endpoint);
}

void
lb_endpoint_text(const struct lb_endpoint *endpoint, char text[LB_ENDPOINT_TEXT])
{
	char address[INET_ADDRSTRLEN];
	const char *protocol = endpoint->protocol == IPPROTO_TCP ? "/tcp" : "/udp";

	inet_ntop(AF_INET, &endpoint->ip, address, sizeof(address));
	snprintf(text, LB_ENDPOINT_TEXT, "%s:%u%s", address, ntohs(endpoint->port),
		 endpoint->role == LB_VIP ? protocol : "");
}

int
lb_endpoints_parse(const char *service, const char *backend, struct lb_endpoint *vip,
		   struct lb_endpoint *at, const char *where, struct weir_error *error)
{
	memset(vip, 0, sizeof(*vip));
	memset(at, 0, sizeof(*at));
	if (!parse_service(service, vip))
		return weir_fail(error, "bad_argument", where,
				 "a service such as 203.0.113.10:80/tcp, or /udp", NULL,
				 "'%s' is not a service", service);
	if (!parse_address(backend, at))
		return weir_fail(error, "bad_argument", where, "a back-end such as 10.0.0.1:8080",
				 NULL, "'%s' is not a back-end", backend);
	at->protocol = vip->protocol;
	at->role = LB_BACKEND;
	return 0;
}
