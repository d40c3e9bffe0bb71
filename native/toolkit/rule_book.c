/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_book.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash_crc.h>

/* Between a rule and one that is put beside it, where there is room for more: so many more of them
 * go there before orders are spread anew. */
#define ORDER_STEP ((uint64_t)1 << 20)

static inline uint64_t
two(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t
hash_prefix(const struct weir_ipv6_prefix *prefix, uint32_t hash)
{
	uint64_t halves[2]; /* the address itself is anywhere */

	memcpy(halves, prefix->address, sizeof(halves));
	hash = rte_hash_crc_1byte(prefix->length, hash);
	return rte_hash_crc_8byte(halves[1], rte_hash_crc_8byte(halves[0], hash));
}

static uint32_t
bucket_of(const struct weir_rule_book *book, const struct weir_written_rule *rule, bool permits)
{
	const struct weir_rule *ipv4 = &rule->ipv4;
	uint32_t hash = (uint32_t)ipv4->protocol << 4 | (uint32_t)ipv4->any_protocol << 3 |
			(uint32_t)rule->is_ipv4 << 2 | (uint32_t)rule->is_ipv6 << 1 |
			(uint32_t)permits;

	hash = rte_hash_crc_8byte(two(ipv4->src_ip, ipv4->dst_ip), hash);
	hash = rte_hash_crc_8byte(two(ipv4->src_mask, ipv4->dst_mask), hash);
	hash = rte_hash_crc_8byte(two((uint32_t)ipv4->src_port_low << 16 | ipv4->src_port_high,
				      (uint32_t)ipv4->dst_port_low << 16 | ipv4->dst_port_high),
				  hash);
	if (rule->is_ipv6) {
		hash = hash_prefix(&rule->ipv6.src, hash);
		hash = hash_prefix(&rule->ipv6.dst, hash);
	}
	return hash & book->bucket_mask;
}

static bool
same_prefix(const struct weir_ipv6_prefix *a, const struct weir_ipv6_prefix *b)
{
	return a->length == b->length && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static bool
same_rule(const struct weir_written_rule *a, const struct weir_written_rule *b)
{
	const struct weir_rule *left = &a->ipv4, *right = &b->ipv4;

	return a->is_ipv4 == b->is_ipv4 && a->is_ipv6 == b->is_ipv6 &&
	       left->src_ip == right->src_ip && left->src_mask == right->src_mask &&
	       left->dst_ip == right->dst_ip && left->dst_mask == right->dst_mask &&
	       left->src_port_low == right->src_port_low &&
	       left->src_port_high == right->src_port_high &&
	       left->dst_port_low == right->dst_port_low &&
	       left->dst_port_high == right->dst_port_high && left->protocol == right->protocol &&
	       left->any_protocol == right->any_protocol &&
	       (!a->is_ipv6 || (same_prefix(&a->ipv6.src, &b->ipv6.src) &&
				same_prefix(&a->ipv6.dst, &b->ipv6.dst)));
}

uint32_t
weir_rule_book_find(const struct weir_rule_book *book, const struct weir_written_rule *rule,
		    bool permits)
{
	uint32_t number = book->buckets[bucket_of(book, rule, permits)];
	uint32_t first = WEIR_BOOK_NONE;

	for (; number != WEIR_BOOK_NONE; number = weir_book_rule(book, number)->same_hash) {
		const struct weir_book_rule *at = weir_book_rule(book, number);

		if (at->permits == permits && same_rule(&at->rule, rule) &&
		    (first == WEIR_BOOK_NONE || at->order < weir_book_rule(book, first)->order))
			first = number;
	}
	return first;
}

/* --- in the list and out of it -----------------------------------------------------------------
 */

/* Between the rules that it says are beside it. */
static void
link_in(struct weir_rule_book *book, uint32_t number)
{
	struct weir_book_rule *rule = weir_book_rule(book, number);
	uint32_t *bucket = &book->buckets[bucket_of(book, &rule->rule, rule->permits)];

	weir_book_rule(book, rule->previous)->next = number;
	weir_book_rule(book, rule->next)->previous = number;
	rule->same_hash = *bucket;
	*bucket = number;
	rule->is_there = true;
	book->count++;
	book->ipv4_count += rule->rule.is_ipv4;
	book->naming_ports += weir_written_rule_names_ports(&rule->rule);
}

void
weir_rule_book_remove(struct weir_rule_book *book, uint32_t number)
{
	struct weir_book_rule *rule = weir_book_rule(book, number);
	uint32_t *at = &book->buckets[bucket_of(book, &rule->rule, rule->permits)];

	weir_book_rule(book, rule->previous)->next = rule->next;
	weir_book_rule(book, rule->next)->previous = rule->previous;
	while (*at != number)
		at = &weir_book_rule(book, *at)->same_hash;
	*at = rule->same_hash;
	rule->is_there = false;
	book->count--;
	book->ipv4_count -= rule->rule.is_ipv4;
	book->naming_ports -= weir_written_rule_names_ports(&rule->rule);
}

void
weir_rule_book_put_back(struct weir_rule_book *book, uint32_t number)
{
	link_in(book, number);
}

void
weir_rule_book_forget(struct weir_rule_book *book, uint32_t number)
{
	struct weir_book_rule *rule = weir_book_rule(book, number);

	free(rule->added);
	*rule = (struct weir_book_rule){.next = book->free_number};
	book->free_number = number;
}

/* --- orders ------------------------------------------------------------------------------------
 */

static inline bool
is_fixed(const struct weir_rule_book *book, uint32_t number)
{
	return number == WEIR_BOOK_NONE || weir_book_rule(book, number)->is_built;
}

static inline uint64_t
order_below(const struct weir_rule_book *book, uint32_t number)
{
	return number != WEIR_BOOK_NONE ? weir_book_rule(book, number)->order : 0;
}

static inline uint64_t
order_above(const struct weir_rule_book *book, uint32_t number)
{
	return number != WEIR_BOOK_NONE ? weir_book_rule(book, number)->order : book->order_end;
}

/* All added rules around `number` up to the next built ones. False: no memory. */
static bool
spread_orders(struct weir_rule_book *book, uint32_t number)
{
	uint32_t first = number, end = number, count = 0, at;
	uint64_t order, step;

	while (!is_fixed(book, first))
		first = weir_book_rule(book, first)->previous;
	if (first == number)
		end = weir_book_rule(book, number)->next;
	for (; !is_fixed(book, end); end = weir_book_rule(book, end)->next)
		;
	for (at = weir_book_rule(book, first)->next; at != end; at = weir_book_rule(book, at)->next)
		count++;
	order = order_below(book, first);
	step = (order_above(book, end) - order) / (count + 1);
	if (!weir_growing_add(&book->reordered, count, &at))
		return false;
	struct weir_book_reordered *log = (struct weir_book_reordered *)book->reordered.items + at;

	for (at = weir_book_rule(book, first)->next; at != end;
	     at = weir_book_rule(book, at)->next) {
		*log++ = (struct weir_book_reordered){at, weir_book_rule(book, at)->order};
		weir_book_rule(book, at)->order = order += step;
	}
	return true;
}

/* For a rule between those two, which are neighbours. False: no memory. */
static bool
choose_order(struct weir_rule_book *book, uint32_t previous, uint32_t next, uint64_t *order)
{
	uint64_t low = order_below(book, previous), high = order_above(book, next), room;

	if (high - low < 2) {
		if (!spread_orders(book, previous))
			return false;
		low = order_below(book, previous);
		high = order_above(book, next);
	}
	room = (high - low) / 2;
	/* Away from rules that stay where they are, so that there is room on that side, too. */
	if (is_fixed(book, previous) && is_fixed(book, next))
		*order = low + room;
	else if (is_fixed(book, previous))
		*order = high - RTE_MIN(room, ORDER_STEP);
	else
		*order = low + RTE_MIN(room, ORDER_STEP);
	return true;
}

uint32_t
weir_rule_book_add(struct weir_rule_book *book, const struct weir_written_rule *rule, bool permits,
		   uint32_t before)
{
	uint32_t previous = weir_book_rule(book, before)->previous, number = book->free_number;
	uint64_t order;

	if (!choose_order(book, previous, before, &order))
		return WEIR_BOOK_NONE;
	if (number != WEIR_BOOK_NONE)
		book->free_number = weir_book_rule(book, number)->next;
	else if (!weir_growing_add(&book->rules, 1, &number))
		return WEIR_BOOK_NONE;
	*weir_book_rule(book, number) = (struct weir_book_rule){
		.rule = *rule,
		.order = order,
		.previous = previous,
		.next = before,
		.ipv4_index = WEIR_RULE_NONE,
		.permits = permits,
		.is_new = true,
	};
	link_in(book, number);
	return number;
}

/* --- the whole ---------------------------------------------------------------------------------
 */

/* The rule at each place, as it was read. */
static void
write_down(struct weir_rule_book *book, const struct weir_rule_set *set)
{
	uint32_t ipv4 = 0, ipv6 = 0;

	for (uint32_t place = 0; place < set->built_count; place++) {
		const uint8_t written = set->written[place];
		uint32_t number = place + 1;
		struct weir_book_rule *rule = weir_book_rule(book, number);

		rule->rule.is_ipv4 = (written & WEIR_RULE_WRITTEN_IPV4) != 0;
		rule->rule.is_ipv6 = (written & WEIR_RULE_WRITTEN_IPV6) != 0;
		rule->permits = (written & WEIR_RULE_WRITTEN_PERMITS) != 0;
		rule->ipv4_index = WEIR_RULE_NONE;
		if (rule->rule.is_ipv6) {
			rule->rule.ipv6 = set->ipv6.rules[ipv6++];
			rule->rule.ipv4 = rule->rule.ipv6.rest;
		}
		if (rule->rule.is_ipv4) {
			set->ipv4_places[ipv4] = place;
			rule->ipv4_index = ipv4;
			rule->rule.ipv4 = set->ipv4_rules[ipv4++];
		}
		rule->order = weir_rule_order_of_place(place);
		rule->is_built = true;
		rule->previous = place;
		rule->next = WEIR_BOOK_NONE;
		link_in(book, number);
	}
}

struct weir_rule_book *
weir_rule_book_create(struct weir_rule_set *set)
{
	struct weir_rule_book *book = calloc(1, sizeof(*book));
	uint32_t buckets = rte_align32pow2(set->built_count + set->built_count / 2 + 1024), first;

	free(set->ipv4_places);
	set->ipv4_places = malloc((set->ipv4_count + 1UL) * sizeof(*set->ipv4_places));
	if (book == NULL || set->ipv4_places == NULL)
		goto no_memory;
	book->rules.item_bytes = sizeof(struct weir_book_rule);
	book->reordered.item_bytes = sizeof(struct weir_book_reordered);
	book->bucket_mask = buckets - 1;
	book->order_end = weir_rule_order_of_place(set->built_count);
	book->buckets = calloc(buckets, sizeof(*book->buckets));
	if (book->buckets == NULL || !weir_growing_add(&book->rules, set->built_count + 1, &first))
		goto no_memory;
	write_down(book, set);
	return book;
no_memory:
	weir_rule_book_free(book);
	return NULL;
}

void
weir_rule_book_free(struct weir_rule_book *book)
{
	if (book == NULL)
		return;
	for (uint32_t number = 0; number < book->rules.count; number++)
		free(weir_book_rule(book, number)->added);
	free(book->rules.items);
	free(book->reordered.items);
	free(book->buckets);
	free(book);
}
