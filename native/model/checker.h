/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and assertions of the model checker, GenMC (https://github.com/MPI-SWS/genmc), which runs
 * each model in every way that C11's memory model allows (RC11). Models are compiled to LLVM's
 * code by clang and include the product's own source; its mutants are made by macros
 * (tools/test-model).
 */
#ifndef WEIR_MODEL_CHECKER_H
#define WEIR_MODEL_CHECKER_H

/* No instruction that the checker knows. Before DPDK's headers. */
#include <emmintrin.h>
#define _mm_pause() ((void)0)

void __VERIFIER_assert_fail(const char *text, const char *file, int line);
int __VERIFIER_thread_create(const void *attributes, void *(*run)(void *), void *argument);
int __VERIFIER_thread_join(long thread, void **result);

#define model_assert(what) ((what) ? (void)0 : __VERIFIER_assert_fail(#what, __FILE__, __LINE__))

static inline long
model_thread(void *(*run)(void *))
{
	return __VERIFIER_thread_create((const void *)0, run, (void *)0);
}

static inline void
model_join(long thread)
{
	__VERIFIER_thread_join(thread, (void **)0);
}

#endif
