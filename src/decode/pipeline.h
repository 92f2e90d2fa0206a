// From raw signals to rows: stable order, pruning, location assembly, finite check (decode.md §3, §4, §10). The same
// for all modules.
#pragma once
#include <vector>

#include "decode/module.h"

namespace dq::decode {

// Appends the rows of `raw` to the batch; `now` is the clock of the future check. True when a row was dropped for a
// number that is not finite. `raw` may grow by assembled locations.
bool appendRows(const Header& header, Micros now, std::vector<RawSignal>& raw, std::vector<std::uint32_t>& order,
                Batch& out);

}  // namespace dq::decode
