/* SPDX-License-Identifier: Apache-2.0 */
#include "tenants.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash_crc.h>

#include "toolkit/entries.h"

#define VLAN_MAX 4094

static uint32_t
mask_of(uint8_t length)
{
	return length == 0 ? 0 : htonl(UINT32_MAX << (32 - length));
}

static uint32_t
place_of(const struct tenants *tenants, uint32_t address, uint8_t length)
{
	uint32_t place = rte_hash_crc_4byte(address, length) % TENANT_PLACES;

	while (tenants->places[place].length_and_1 != 0 &&
	       (tenants->places[place].address != address ||
		tenants->places[place].length_and_1 != length + 1))
		place = (place + 1) % TENANT_PLACES;
	return place;
}

/* Keeps the lengths sorted, longest first. */
static void
note_length(struct tenants *tenants, uint8_t length)
{
	uint8_t at = 0;

	while (at < tenants->length_count && tenants->lengths[at] > length)
		at++;
	if (at < tenants->length_count && tenants->lengths[at] == length)
		return;
	memmove(&tenants->lengths[at + 1], &tenants->lengths[at], tenants->length_count - at);
	tenants->lengths[at] = length;
	tenants->length_count++;
}

/* "10.0.0.0/8", "vlan:100" or "default"; false: it is neither, or is there already. */
static bool
name_tenant(struct tenants *tenants, const char *name, uint16_t number)
{
	unsigned int vlan, length = 32;
	char address[INET_ADDRSTRLEN], more;
	struct tenant_place *place;
	uint32_t ip;

	if (strcmp(name, "default") == 0) {
		if (tenants->fallback != TENANT_NONE)
			return false;
		tenants->fallback = number;
		return true;
	}
	if (sscanf(name, "vlan:%4u%c", &vlan, &more) == 1) {
		if (vlan == 0 || vlan > VLAN_MAX || tenants->of_vlan[vlan] != TENANT_NONE)
			return false;
		tenants->of_vlan[vlan] = number;
		return true;
	}
	if (sscanf(name, "%15[0-9.]/%2u%c", address, &length, &more) != 2 || length > 32 ||
	    inet_pton(AF_INET, address, &ip) != 1 || (ip & ~mask_of(length)) != 0)
		return false;
	place = &tenants->places[place_of(tenants, ip, length)];
	if (place->length_and_1 != 0)
		return false;
	*place = (struct tenant_place){.address = ip, .number = number, .length_and_1 = length + 1};
	note_length(tenants, length);
	return true;
}

/* "cir_bps=10000000" */
static bool
read_number(char *word, struct tenant_words *words)
{
	char *equals = strchr(word, '=');
	char *end;
	uint64_t value;

	if (words->number_count == RTE_DIM(words->numbers) || equals[1] < '0' || equals[1] > '9')
		return false;
	*equals = '\0';
	errno = 0;
	value = strtoull(equals + 1, &end, 10);
	words->numbers[words->number_count].name = word;
	words->numbers[words->number_count++].value = value;
	return errno == 0 && *end == '\0';
}

struct reading {
	struct tenants *tenants;
	tenant_fn take;
	void *argument;
};

static int
read_tenant(void *argument, char *entry, const char *where, struct weir_error *error)
{
	struct reading *reading = argument;
	struct tenants *tenants = reading->tenants;
	struct tenant_words words = {.word = ""};
	char *rest;

	words.name = strtok_r(entry, " \t\r", &rest);
	if (tenants->count == TENANTS_MAX)
		return weir_fail(error, "bad_argument", where, "1,024 tenants at most", NULL,
				 "there is no room for tenant %s", words.name);
	if (!name_tenant(tenants, words.name, tenants->count))
		return weir_fail(error, "bad_argument", where,
				 "an IPv4 prefix without host bits, vlan:1 to vlan:4094, or "
				 "default; each once",
				 NULL, "'%s' names no tenant, or one that is there", words.name);
	snprintf(tenants->names[tenants->count], TENANT_NAME_BYTES, "%s", words.name);
	for (char *word; (word = strtok_r(NULL, " \t\r", &rest)) != NULL;) {
		bool is_number = strchr(word, '=') != NULL;

		if (is_number ? !read_number(word, &words) : words.word[0] != '\0')
			return weir_fail(error, "bad_argument", where,
					 "a number such as cir_bps=10000000", NULL,
					 "'%s' of tenant %s cannot be read", word, words.name);
		if (!is_number)
			words.word = word;
	}
	return reading->take(reading->argument, tenants->count++, &words, where, error);
}

int
tenants_read(struct tenants *tenants, const char *owner, const char *text, const char *path,
	     tenant_fn take, void *argument, const char *where, struct weir_error *error)
{
	struct reading reading = {tenants, take, argument};

	memset(tenants, 0, sizeof(*tenants));
	memset(tenants->of_vlan, 0xff, sizeof(tenants->of_vlan));
	tenants->fallback = TENANT_NONE;
	if (weir_entries_each(owner, text, path, read_tenant, &reading, where, error) < 0)
		return -1;
	if (tenants->count > 0)
		return 0;
	return weir_fail(error, "bad_argument", where, "one tenant at least", NULL,
			 "the list of %s names no tenant", owner);
}

int
tenant_number(const struct tenant_words *words, const char *name, uint64_t min, uint64_t max,
	      uint64_t otherwise, uint64_t *value, const char *where, struct weir_error *error)
{
	char expected[96];

	*value = otherwise;
	for (unsigned int i = 0; i < words->number_count; i++) {
		if (strcmp(words->numbers[i].name, name) == 0)
			*value = words->numbers[i].value;
	}
	if (*value >= min && *value <= max)
		return 0;
	snprintf(expected, sizeof(expected), "%s from %lu to %lu", name, min, max);
	return weir_fail(error, "bad_argument", where, expected, NULL,
			 "tenant %s has no %s, or one out of its range", words->name, name);
}

int
tenant_refuse_unknown(const struct tenant_words *words, const char *const *known, const char *where,
		      struct weir_error *error)
{
	for (unsigned int i = 0; i < words->number_count; i++) {
		const char *const *name = known;

		while (*name != NULL && strcmp(*name, words->numbers[i].name) != 0)
			name++;
		if (*name == NULL)
			return weir_fail(error, "bad_argument", where, NULL, NULL,
					 "tenant %s has no use for %s", words->name,
					 words->numbers[i].name);
	}
	return 0;
}

void
tenant_labels(const struct tenants *tenants, uint16_t number, enum weir_direction direction,
	      const char *what_name, const char *what, struct weir_report_label labels[3])
{
	labels[0] = (struct weir_report_label){"tenant", tenants->names[number]};
	labels[1] = (struct weir_report_label){"direction",
					       direction == WEIR_OUTBOUND ? "outbound" : "inbound"};
	labels[2] = (struct weir_report_label){what_name, what};
}

uint16_t
tenants_find(const struct tenants *tenants, const struct weir_headers *headers,
	     enum weir_direction direction)
{
	uint32_t address =
		direction == WEIR_OUTBOUND ? headers->tuple.src_ip : headers->tuple.dst_ip;
	uint16_t number = tenants->of_vlan[headers->vlan % TENANT_VLANS];

	if (number != TENANT_NONE)
		return number;
	if (headers->network != WEIR_NETWORK_IPV4)
		return tenants->fallback;
	for (uint8_t i = 0; i < tenants->length_count; i++) {
		uint8_t length = tenants->lengths[i];
		const struct tenant_place *place =
			&tenants->places[place_of(tenants, address & mask_of(length), length)];

		if (place->length_and_1 != 0)
			return place->number;
	}
	return tenants->fallback;
}

uint32_t
tenants_steer(const struct tenants *tenants, const struct weir_headers *headers,
	      enum weir_direction direction)
{
	const uint16_t number = tenants_find(tenants, headers, direction);

	return number != TENANT_NONE ? number : WEIR_STEER_ANY;
}
