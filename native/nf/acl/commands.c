/* SPDX-License-Identifier: Apache-2.0 */
/* Changes while packets flow: rules read anew, or changed one by one. */
#include "acl.h"

#include "engine/flow_cache.h"
#include "toolkit/option_rows.h"

static int
reload_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct acl *acl = state;
	const struct weir_rule_reload *reload;

	if (weir_rule_reload_prepare(arguments, acl->path,
				     acl->default_verdict == WEIR_DEFAULT_PERMIT, where, prepared,
				     error) != 0)
		return -1;
	reload = *prepared;
	if (acl->index || weir_rule_set_one_by_one(reload->rules, where, error) == 0)
		return 0;
	weir_rule_reload_release(*prepared);
	return -1;
}

struct before_and_after {
	const struct weir_rule_set *before, *after;
};

/* Whether the flow was permitted and is not any more, or the other way round. Fragments, cut
 * headers, ICMP and IPv6 are not in the cache. */
static bool
is_changed(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	const struct before_and_after *rules = argument;
	const struct weir_tuple asked = weir_classifier_flow_tuple(tuple);
	bool before, after;

	(void)direction;
	weir_rule_set_permits(rules->before, &asked, &before, 1);
	weir_rule_set_permits(rules->after, &asked, &after, 1);
	return before != after;
}

static void
reload_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct acl *acl = state;
	struct weir_rule_reload *reload = prepared;
	struct weir_rule_set *before = acl->rules;
	struct before_and_after rules = {.before = before, .after = reload->rules};

	weir_flow_cache_forget_if(cache, acl, is_changed, &rules);
	acl->rules = reload->rules;
	reload->rules = before;
}

static int
change_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct acl *acl = state;

	return weir_rule_change_prepare(arguments, acl->rules, where, prepared, error);
}

/* Whether a rule that changed is about the flow: what was decided then may still be right. */
static bool
is_concerned(const struct weir_tuple *tuple, enum weir_direction direction, void *change)
{
	const struct weir_tuple asked = weir_classifier_flow_tuple(tuple);
	bool may_refuse;

	(void)direction;
	return weir_rule_change_concerns(change, &asked, &may_refuse);
}

static void
change_commit(void *state, void *change, struct weir_flow_cache *cache)
{
	struct acl *acl = state;

	weir_flow_cache_forget_if(cache, acl, is_concerned, change);
	acl->rules = weir_rule_change_commit(change);
}

const struct weir_command acl_commands[ACL_COMMANDS] = {
	WEIR_RULE_RELOAD_ROW(reload_prepare, reload_commit,
			     "Reads rules and puts them in place of those there are. An error "
			     "leaves them as they are."),
	WEIR_RULE_CHANGE_ROW(change_prepare, change_commit,
			     "Adds and removes rules, as its lines say one after another: all of "
			     "them, or none where one cannot be done."),
};
