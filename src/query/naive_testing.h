// Answers to questions by plain loops over the rows, as queries.md words them: the oracle of the random tests.
#pragma once
#include <vector>

#include "query/lake_testing.h"

namespace dq::query {

// RAND and geofences within 10⁻⁹ of their circle are not asked of it.
std::vector<SignalBucket> naiveSignals(const std::vector<SignalRow>& rows, const SignalsQuestion& question);
std::vector<LatestSignal> naiveLatest(const std::vector<SignalRow>& rows, const std::string& subject,
                                      const std::optional<std::string>& source);
std::vector<Event> naiveEvents(const std::vector<EventRow>& rows, const EventsQuestion& question);
std::vector<EventSummary> naiveSummaries(const std::vector<EventRow>& rows, const std::string& subject);

}  // namespace dq::query
