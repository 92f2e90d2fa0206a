// The default dialect: payloads whose items already carry names of the dictionary. The readers are also those of
// vendors whose events travel in it.
#pragma once
#include <vector>

#include "decode/module.h"

namespace dq::decode {

Outcome readDefaultStatus(const Work& work, std::vector<RawSignal>& out);
Outcome readDefaultEvents(const Work& work, Batch& out);

// A row with the header's columns set and no tags; the reference lives until the next append.
EventRow& appendEvent(const Work& work, Batch& out);

}  // namespace dq::decode
