// SPDX-License-Identifier: Apache-2.0
// The step that stores f32.
#include "feedrate/cuda/train/step.cuh"

template struct feedrate::cuda::StepFactory<float>;
