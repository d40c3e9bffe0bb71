/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a set in their order, for the thread that changes them: which one a text means, and
 * where a new one goes. Packets are never asked about here.
 *
 * Who goes before whom is a number that leaves room between any two rules; where the room is used
 * up the numbers of the added rules there are spread evenly again (Dietz, Sleator: Two Algorithms
 * for Maintaining Order in a List, STOC 1987). Rules that were built keep theirs.
 */
#ifndef WEIR_TOOLKIT_RULE_BOOK_H
#define WEIR_TOOLKIT_RULE_BOOK_H

#include "growing.h"
#include "rule_set_parts.h"

/* The number of no rule; what goes before it goes behind all. */
#define WEIR_BOOK_NONE 0

struct weir_book_rule {
	struct weir_written_rule rule;
	uint64_t order;
	uint32_t previous, next; /* WEIR_BOOK_NONE: none */
	uint32_t same_hash;
	uint32_t ipv4_index;	       /* in the classifier; WEIR_RULE_NONE: it is not there */
	struct weir_added_rule *added; /* or NULL; freed with the book */
	bool permits;
	bool is_built; /* with the set, not added since */
	bool is_there; /* not removed */
	bool is_new;   /* of the change that is being prepared */
};

/* A rule that got another order, and the one that it had. */
struct weir_book_reordered {
	uint32_t number;
	uint64_t before;
};

struct weir_rule_book {
	struct weir_growing rules; /* struct weir_book_rule, by number; that of none is the ends */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t free_number;
	uint64_t order_end;
	uint32_t count, ipv4_count, naming_ports; /* that are there */
	uint32_t added_count;			  /* with `added` */
	uint32_t struck_count;			  /* in the classifier, and not there */
	struct weir_growing reordered;		  /* struct weir_book_reordered */
};

/* Of a set of which nothing was changed yet; writes its ipv4_places, too. NULL: no memory. */
struct weir_rule_book *weir_rule_book_create(struct weir_rule_set *set);
void weir_rule_book_free(struct weir_rule_book *book);

static inline struct weir_book_rule *
weir_book_rule(const struct weir_rule_book *book, uint32_t number)
{
	return (struct weir_book_rule *)book->rules.items + number;
}

/* The first that says just that, or WEIR_BOOK_NONE. */
uint32_t weir_rule_book_find(const struct weir_rule_book *book,
			     const struct weir_written_rule *rule, bool permits);
/* The new one's number; WEIR_BOOK_NONE: no memory, and nothing changed but orders. Those that this
 * changes are added to `reordered`. */
uint32_t weir_rule_book_add(struct weir_rule_book *book, const struct weir_written_rule *rule,
			    bool permits, uint32_t before);
void weir_rule_book_remove(struct weir_rule_book *book, uint32_t number);
/* Takes a removal back, the last one first. */
void weir_rule_book_put_back(struct weir_rule_book *book, uint32_t number);
/* Of a rule that was added and is not there any more: its number, and `added`, are free. */
void weir_rule_book_forget(struct weir_rule_book *book, uint32_t number);

#endif
