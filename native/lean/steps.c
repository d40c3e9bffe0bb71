/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define TRAP_FLAG "0x100"
#define TRIED 100 /* instructions of the test whether it counts right */

/* Behind the red zone, which the compiler may use. */
#define CHANGE_FLAGS(change)                                                                       \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                             \
			 "popfq\n\tlea 128(%%rsp), %%rsp" ::                                       \
				 : "memory", "cc")

static volatile uint64_t counted;
static uint64_t none; /* counted around nothing */
static greg_t next;   /* where the thread went on after the step before */
static const struct weir_path *path;
static unsigned int stage; /* the one that runs or comes next */
static bool in_stage;
static uint64_t packets_before, cycles_before, boundary;
static uint64_t stages[WEIR_STAGES_MAX];

static void
look_at(unsigned int index)
{
	stage = index;
	in_stage = index > 0; /* one begins where the one before ends */
	if (index == path->stage_count)
		return;
	packets_before = path->stages[index].ledger.packets_in;
	cycles_before = path->stages[index].ledger.cycles;
}

/* The path counts a stage's packets when it begins and its cycles when it ends. */
static void
follow_stages(void)
{
	const struct weir_stage_ledger *ledger = &path->stages[stage].ledger;

	if (!in_stage && ledger->packets_in != packets_before) {
		in_stage = true;
		boundary = counted;
	}
	if (in_stage && ledger->cycles != cycles_before) {
		stages[stage] += counted - boundary;
		boundary = counted;
		look_at(stage + 1);
	}
}

static void
on_step(int signal, siginfo_t *information, void *context)
{
	greg_t at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)information;
	if (at == next) /* it repeats itself: one instruction, as the processor counts */
		return;
	next = at;
	counted++;
	if (path != NULL && stage < path->stage_count)
		follow_stages();
}

static uint64_t
count_nothing(void)
{
	struct weir_steps steps = {0};

	none = 0;
	weir_steps_begin(NULL);
	weir_steps_end(&steps);
	return steps.total;
}

bool
weir_steps_open(void)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct weir_steps steps = {0};
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (sigaction(SIGTRAP, &action, NULL) != 0 ||
	    pthread_sigmask(SIG_UNBLOCK, &trap, NULL) != 0)
		return false;
	none = count_nothing();
	weir_steps_begin(NULL);
	__asm__ volatile(".rept %c0\n\tnop\n\t.endr" ::"i"(TRIED));
	weir_steps_end(&steps);
	return steps.total == TRIED;
}

void
weir_steps_begin(const struct weir_path *counted_path)
{
	path = counted_path != NULL && counted_path->fastpath.cache == NULL ? counted_path : NULL;
	memset(stages, 0, sizeof(stages));
	counted = 0;
	next = 0;
	if (path != NULL)
		look_at(0);
	CHANGE_FLAGS("orq $" TRAP_FLAG ", (%%rsp)\n\t");
}

void
weir_steps_end(struct weir_steps *steps)
{
	CHANGE_FLAGS("andq $~" TRAP_FLAG ", (%%rsp)\n\t");
	steps->total += counted - none;
	for (unsigned int i = 0; i < WEIR_STAGES_MAX; i++)
		steps->stages[i] += stages[i];
}
