/* SPDX-License-Identifier: Apache-2.0 */
#include "processor.h"

#include <rte_common.h>

const enum rte_cpu_flag_t weir_built_for[] = {
	RTE_CPUFLAG_SSE4_2, /* DPDK's own */
#ifdef __AVX__
	RTE_CPUFLAG_AVX,
#endif
#ifdef __AVX2__
	RTE_CPUFLAG_AVX2,
#endif
#ifdef __BMI__
	RTE_CPUFLAG_BMI1,
#endif
#ifdef __BMI2__
	RTE_CPUFLAG_BMI2,
#endif
#ifdef __FMA__
	RTE_CPUFLAG_FMA,
#endif
#ifdef __F16C__
	RTE_CPUFLAG_F16C,
#endif
/* Not LZCNT: DPDK 22.11 looks for it at a wrong place. Who has AVX2 has it. */
#ifdef __MOVBE__
	RTE_CPUFLAG_MOVBE,
#endif
#ifdef __GFNI__
	RTE_CPUFLAG_GFNI,
#endif
#ifdef __VAES__
	RTE_CPUFLAG_VAES,
#endif
#ifdef __VPCLMULQDQ__
	RTE_CPUFLAG_VPCLMULQDQ,
#endif
#ifdef __AVX512F__
	RTE_CPUFLAG_AVX512F,
#endif
#ifdef __AVX512BW__
	RTE_CPUFLAG_AVX512BW,
#endif
#ifdef __AVX512CD__
	RTE_CPUFLAG_AVX512CD,
#endif
#ifdef __AVX512DQ__
	RTE_CPUFLAG_AVX512DQ,
#endif
#ifdef __AVX512VL__
	RTE_CPUFLAG_AVX512VL,
#endif
#ifdef __AVX512IFMA__
	RTE_CPUFLAG_AVX512IFMA,
#endif
#ifdef __AVX512VBMI__
	RTE_CPUFLAG_AVX512VBMI,
#endif
#ifdef __AVX512VBMI2__
	RTE_CPUFLAG_AVX512VBMI2,
#endif
#ifdef __AVX512VNNI__
	RTE_CPUFLAG_AVX512VNNI,
#endif
#ifdef __AVX512BITALG__
	RTE_CPUFLAG_AVX512BITALG,
#endif
#ifdef __AVX512VPOPCNTDQ__
	RTE_CPUFLAG_AVX512VPOPCNTDQ,
#endif
#ifdef __AVX512VP2INTERSECT__
	RTE_CPUFLAG_AVX512VP2INTERSECT,
#endif
};

const unsigned int weir_built_for_count = RTE_DIM(weir_built_for);
