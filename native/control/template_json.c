/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of a stream's first flow, from JSON. */
#include <arpa/inet.h>
#include <string.h>

#include "arguments.h"
#include "stream_json.h"
#include "verb.h"

static int
mac_of(const json_t *object, const char *key, const char *where, struct rte_ether_addr *mac,
       struct weir_error *error)
{
	const char *text = NULL;

	if (weir_take_string(object, key, true, where, &text, error) < 0)
		return -1;
	if (rte_ether_unformat_addr(text, mac) != 0)
		return weir_fail(error, "bad_argument", weir_at(where, key).text,
				 "an address such as 02:00:00:00:00:01", NULL,
				 "'%s' is not a MAC address", text);
	return 0;
}

static int
address_of(const json_t *object, const char *key, int version, const char *where, uint8_t *address,
	   struct weir_error *error)
{
	const char *text = NULL;

	if (weir_take_string(object, key, true, where, &text, error) < 0)
		return -1;
	if (inet_pton(version == 4 ? AF_INET : AF_INET6, text, address) != 1)
		return weir_fail(error, "bad_argument", weir_at(where, key).text,
				 version == 4 ? "an IPv4 address" : "an IPv6 address", NULL,
				 "'%s' cannot be %s", key, text);
	return 0;
}

int
weir_template_from_json(const json_t *object, const char *where, struct weir_template *template,
			struct weir_error *error)
{
	static const char *const known[] = {"ip",     "l4",	"src_mac",  "dst_mac",	"vlan",
					    "src_ip", "dst_ip", "src_port", "dst_port", NULL};
	const char *l4 = "udp";
	uint64_t version = 4, vlan = 0, src_port = 1024, dst_port = 1024;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "ip", 4, 6, where, &version, error) < 0 ||
	    weir_take_string(object, "l4", false, where, &l4, error) < 0 ||
	    mac_of(object, "src_mac", where, &template->src_mac, error) < 0 ||
	    mac_of(object, "dst_mac", where, &template->dst_mac, error) < 0 ||
	    weir_take_count(object, "vlan", 1, 4094, where, &vlan, error) < 0 ||
	    weir_take_count(object, "src_port", 1, 32767, where, &src_port, error) < 0 ||
	    weir_take_count(object, "dst_port", 1, 32767, where, &dst_port, error) < 0)
		return -1;
	if (version == 5)
		return weir_fail(error, "bad_argument", weir_at(where, "ip").text, "4 or 6", NULL,
				 "'ip' cannot be 5");
	if (strcmp(l4, "udp") != 0 && strcmp(l4, "tcp") != 0)
		return weir_fail(error, "bad_argument", weir_at(where, "l4").text, "udp or tcp",
				 NULL, "'l4' cannot be '%s'", l4);
	template->ip_version = version;
	template->tcp = strcmp(l4, "tcp") == 0;
	template->tagged = vlan != 0;
	template->vlan = vlan;
	template->src_port = src_port;
	template->dst_port = dst_port;
	if (address_of(object, "src_ip", version, where, template->src_ip, error) < 0)
		return -1;
	return address_of(object, "dst_ip", version, where, template->dst_ip, error);
}
