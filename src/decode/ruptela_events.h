// Events of Ruptela devices (decode.md §8.3).
#pragma once
#include "decode/module.h"

namespace dq::decode {

Outcome readRuptelaEvents(const Work& work, Batch& out);

}  // namespace dq::decode
