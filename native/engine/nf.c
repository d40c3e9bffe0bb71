/* SPDX-License-Identifier: Apache-2.0 */
#include "nf.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

int
weir_command_prepares_nothing(const void *state, const void *arguments, const char *where,
			      void **prepared, struct weir_error *error)
{
	(void)state;
	(void)arguments;
	(void)where;
	(void)error;
	*prepared = NULL;
	return 0;
}

void *
weir_nf_create(const struct weir_nf *nf, const struct weir_option_value *values, unsigned int count,
	       const char *where, struct weir_error *error)
{
	size_t size = RTE_CACHE_LINE_ROUNDUP(nf->state_size > 0 ? nf->state_size : 1);
	void *state = aligned_alloc(RTE_CACHE_LINE_SIZE, size);

	if (state == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the state of %s",
			  nf->name);
		return NULL;
	}
	memset(state, 0, size);
	if (weir_options_parse(nf->name, nf->options, nf->option_count, values, count, state, where,
			       error) < 0)
		goto failed;
	if (nf->init != NULL && nf->init(state, where, error) < 0)
		goto failed;
	return state;
failed:
	free(state);
	return NULL;
}

void
weir_nf_destroy(const struct weir_nf *nf, void *state)
{
	if (state == NULL)
		return;
	if (nf->fini != NULL)
		nf->fini(state);
	free(state);
}

const struct weir_nf *
weir_nf_find(const char *name)
{
	for (unsigned int i = 0; i < weir_nf_count; i++) {
		if (strcmp(weir_nf_table[i]->name, name) == 0)
			return weir_nf_table[i];
	}
	return NULL;
}
