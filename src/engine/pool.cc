#include "engine/pool.h"

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/status.h"
#include "engine/error_internal.h"

namespace dq::engine {
namespace {

constexpr std::int64_t kMaxLifetime = 30 * 60 * kMicrosPerSecond;
constexpr std::int64_t kMaxIdle = 5 * 60 * kMicrosPerSecond;

struct PoolMetrics {
    PoolMetrics(Metrics& metrics, const std::string& pool)
        : open(gauge(metrics, "dq_db_pool_open_connections", "Open connections of an engine pool", pool)),
          in_use(gauge(metrics, "dq_db_pool_in_use_connections", "Connections executing of an engine pool", pool)),
          idle(gauge(metrics, "dq_db_pool_idle_connections", "Idle connections of an engine pool", pool)),
          max_open(gauge(metrics, "dq_db_pool_max_open_connections", "Pool ceiling of an engine pool", pool)),
          waits(
              counter(metrics, "dq_db_pool_wait_count_total", "Acquisitions that had to wait of an engine pool", pool)),
          wait_seconds(counter(metrics, "dq_db_pool_wait_duration_seconds_total",
                               "Total seconds waited of an engine pool", pool)) {}

    static prometheus::Gauge& gauge(Metrics& metrics, const char* name, const char* help, const std::string& pool) {
        return metrics.gauges(name, help).Add({{"pool", pool}});
    }
    static prometheus::Counter& counter(Metrics& metrics, const char* name, const char* help, const std::string& pool) {
        return metrics.counters(name, help).Add({{"pool", pool}});
    }

    prometheus::Gauge &open, &in_use, &idle, &max_open;
    prometheus::Counter &waits, &wait_seconds;
};

struct Idle {
    std::unique_ptr<Connection> connection;
    std::int64_t born;
    std::int64_t since;
};

// A place in the line. Lives longer than the lock of its acquire(): the guard waits for its callback, which takes that
// lock.
struct Turn {
    std::condition_variable wake;
    Cancel::Guard guard;
};

}  // namespace

struct Pool::Impl {
    Impl(std::shared_ptr<Database> first, Prepare on_mint, Options opts)
        : database(std::move(first)), prepare(std::move(on_mint)), options(std::move(opts)) {
        if (options.max_connections <= 0) options.max_connections = 6;
        if (options.metrics != nullptr) metrics.emplace(*options.metrics, options.label);
        publish();
    }

    // Someone may take a connection now: one is idle or may be minted, and none of a replaced instance is still on
    // loan.
    bool available() const { return strangers == 0 && (!idle.empty() || open < options.max_connections); }
    std::int64_t now() const { return options.clock->steadyMicros(); }
    void wakeFirst() {
        if (!waiting.empty() && available()) waiting.front()->notify_one();
    }
    void publish();
    std::vector<Idle> takeExpired();
    std::vector<Idle> takeIdle();
    // Waits until a connection may be taken or the Cancel says stop. The lock is held before and after, but not
    // throughout.
    void waitForTurn(Turn& turn, std::unique_lock<std::mutex>& lock, const Cancel& cancel);
    // A prepared connection of `from`, made without the lock.
    absl::StatusOr<std::unique_ptr<Connection>> mint(const std::shared_ptr<Database>& from, const Cancel& cancel) const;
    // One connection fewer, after it has been closed.
    void forget(std::uint64_t of_instance);

    mutable std::mutex mutex;
    std::shared_ptr<Database> database;
    const Prepare prepare;
    Options options;
    std::optional<PoolMetrics> metrics;
    std::deque<Idle> idle;                                 // most recently used last
    std::list<std::condition_variable*> waiting;           // in order of arrival
    std::unordered_map<Connection*, std::uint64_t> loans;  // with the instance they belong to
    std::uint64_t generation = 0;                          // of connections: grows at recycle and replace
    std::uint64_t instance = 0;                            // grows at replace
    int open = 0;                                          // idle, on loan or being minted
    int strangers = 0;                                     // on loan or being minted, of a replaced instance
};

void Pool::Impl::publish() {
    if (!metrics) return;
    metrics->open.Set(open);
    metrics->idle.Set(static_cast<double>(idle.size()));
    metrics->in_use.Set(open - static_cast<double>(idle.size()));
    metrics->max_open.Set(options.max_connections);
}

std::vector<Idle> Pool::Impl::takeExpired() {
    std::vector<Idle> expired;
    for (auto at = idle.begin(); at != idle.end();) {
        if (now() - at->born < kMaxLifetime && now() - at->since < kMaxIdle) {
            ++at;
            continue;
        }
        expired.push_back(std::move(*at));
        at = idle.erase(at);
    }
    return expired;
}

std::vector<Idle> Pool::Impl::takeIdle() {
    std::vector<Idle> all(std::make_move_iterator(idle.begin()), std::make_move_iterator(idle.end()));
    idle.clear();
    return all;
}

void Pool::Impl::forget(std::uint64_t of_instance) {
    --open;
    if (of_instance != instance) --strangers;
    publish();
    wakeFirst();
}

void Pool::Impl::waitForTurn(Turn& turn, std::unique_lock<std::mutex>& lock, const Cancel& cancel) {
    if (waiting.empty() && available()) return;
    lock.unlock();
    turn.guard = cancel.onCancel([this, &turn] {
        std::lock_guard held(mutex);
        turn.wake.notify_one();
    });
    lock.lock();
    auto place = waiting.insert(waiting.end(), &turn.wake);
    std::int64_t began = now();
    if (metrics) metrics->waits.Increment();
    turn.wake.wait(lock, [&] { return cancel.cancelled() || (waiting.front() == &turn.wake && available()); });
    waiting.erase(place);
    if (metrics) metrics->wait_seconds.Increment(static_cast<double>(now() - began) / kMicrosPerSecond);
}

absl::StatusOr<std::unique_ptr<Connection>> Pool::Impl::mint(const std::shared_ptr<Database>& from,
                                                             const Cancel& cancel) const {
    DQ_ASSIGN_OR_RETURN(Connection made, from->connect());
    auto connection = std::make_unique<Connection>(std::move(made));
    if (!prepare) return connection;
    Cancel::Guard guard = cancel.onCancel([raw = connection.get()] { raw->interrupt(); });
    absl::Status prepared = prepare(*connection);
    if (errorClass(prepared) == ErrorClass::kInterrupted) DQ_RETURN_IF_ERROR(checkCancel(cancel));
    DQ_RETURN_IF_ERROR(prepared);
    return connection;
}

Pool::Pool(std::shared_ptr<Database> database, Prepare prepare, Options options)
    : impl_(std::make_shared<Impl>(std::move(database), std::move(prepare), std::move(options))) {
    if (impl_->options.metrics == nullptr) return;
    // Without traffic nobody else would drop what has been idle for too long.
    impl_->options.metrics->onScrape([weak = std::weak_ptr<Impl>(impl_)] {
        std::shared_ptr<Impl> impl = weak.lock();
        if (impl == nullptr) return;
        std::vector<Idle> expired;
        std::lock_guard lock(impl->mutex);
        expired = impl->takeExpired();
        impl->open -= static_cast<int>(expired.size());
        impl->publish();
        impl->wakeFirst();
    });
}

Pool::~Pool() {
    std::vector<Idle> dropped;
    std::lock_guard lock(impl_->mutex);
    DQ_CHECK(impl_->loans.empty(), "pool destroyed while connections are on loan");
    dropped = impl_->takeIdle();
    impl_->open -= static_cast<int>(dropped.size());
    impl_->database = nullptr;
    impl_->publish();
}

absl::StatusOr<Pool::Lease> Pool::acquire(const Cancel& cancel) {
    Impl& impl = *impl_;
    Turn turn;
    std::vector<Idle> expired;
    std::unique_lock lock(impl.mutex);
    expired = impl.takeExpired();
    impl.open -= static_cast<int>(expired.size());
    while (true) {
        impl.waitForTurn(turn, lock, cancel);
        if (absl::Status stop = checkCancel(cancel); !stop.ok()) {
            impl.wakeFirst();  // this caller may have been the one that was woken
            return stop;
        }
        if (!impl.idle.empty()) {
            Idle taken = std::move(impl.idle.back());
            impl.idle.pop_back();
            impl.loans.emplace(taken.connection.get(), impl.instance);
            impl.publish();
            impl.wakeFirst();
            return Lease(this, std::move(taken.connection), taken.born, impl.generation);
        }
        ++impl.open;
        impl.publish();
        impl.wakeFirst();
        std::shared_ptr<Database> database = impl.database;
        std::uint64_t generation = impl.generation;
        std::uint64_t instance = impl.instance;
        std::int64_t born = impl.now();
        lock.unlock();
        absl::StatusOr<std::unique_ptr<Connection>> minted = impl.mint(database, cancel);
        lock.lock();
        if (minted.ok() && instance == impl.instance) {
            impl.loans.emplace(minted->get(), instance);
            return Lease(this, *std::move(minted), born, generation);
        }
        lock.unlock();
        bool replaced = minted.ok();
        if (replaced) minted->reset();
        database = nullptr;
        lock.lock();
        impl.forget(instance);
        if (!replaced) return minted.status();
    }
}

void Pool::giveBack(Lease& lease) {
    Impl& impl = *impl_;
    std::unique_ptr<Connection> connection = std::move(lease.connection_);
    std::unique_lock lock(impl.mutex);
    auto loan = impl.loans.find(connection.get());
    DQ_CHECK(loan != impl.loans.end(), "connection came back to another pool");
    std::uint64_t instance = loan->second;
    impl.loans.erase(loan);
    bool keep = !lease.broken_ && lease.generation_ == impl.generation && impl.now() - lease.born_ < kMaxLifetime &&
                !connection->inTransaction();
    if (keep) {
        impl.idle.push_back({std::move(connection), lease.born_, impl.now()});
        impl.publish();
        impl.wakeFirst();
        return;
    }
    lock.unlock();
    connection.reset();
    lock.lock();
    impl.forget(instance);
}

void Pool::recycle() {
    std::vector<Idle> dropped;
    std::lock_guard lock(impl_->mutex);
    ++impl_->generation;
    dropped = impl_->takeIdle();
    impl_->open -= static_cast<int>(dropped.size());
    impl_->publish();
    impl_->wakeFirst();
}

void Pool::replaceDatabase(std::shared_ptr<Database> database) {
    Impl& impl = *impl_;
    std::unique_lock lock(impl.mutex);
    std::uint64_t instance = impl.instance;
    ++impl.instance;
    ++impl.generation;
    impl.strangers = impl.open;
    std::vector<Idle> dropped = impl.takeIdle();
    for (const auto& [connection, of_instance] : impl.loans) connection->interrupt();
    std::shared_ptr<Database> old = std::exchange(impl.database, std::move(database));
    lock.unlock();
    std::size_t count = dropped.size();
    dropped.clear();
    old = nullptr;
    lock.lock();
    for (std::size_t i = 0; i < count; ++i) impl.forget(instance);
}

bool Pool::Lease::fresh() const {
    std::lock_guard lock(pool_->impl_->mutex);
    return generation_ == pool_->impl_->generation;
}

Pool::Lease::Lease(Lease&& other) noexcept
    : pool_(other.pool_),
      connection_(std::move(other.connection_)),
      born_(other.born_),
      generation_(other.generation_),
      broken_(other.broken_) {}

Pool::Lease& Pool::Lease::operator=(Lease&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(connection_, other.connection_);
    std::swap(born_, other.born_);
    std::swap(generation_, other.generation_);
    std::swap(broken_, other.broken_);
    return *this;
}

Pool::Lease::~Lease() {
    if (connection_ != nullptr) pool_->giveBack(*this);
}

}  // namespace dq::engine
