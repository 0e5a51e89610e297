// SPDX-License-Identifier: Apache-2.0
// The step that stores f16.
#include "feedrate/cuda/train/step.cuh"

template struct feedrate::cuda::StepFactory<feedrate::Float16>;
