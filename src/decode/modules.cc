#include "decode/default_module.h"
#include "decode/module.h"

namespace dq::decode {
namespace {

// Refuses payloads of a dialect that this build cannot read, so that they count as failed and are not lost unseen.
class AbsentModule final : public Module {
  public:
    explicit AbsentModule(bool own_events) : own_events_(own_events) {}
    Outcome signals(const Work& work, std::vector<RawSignal>& /*out*/) const override { return refuse(work); }
    Outcome events(const Work& work, Batch& out) const override { return own_events_ ? refuse(work) : readDefaultEvents(work, out); }

  private:
    static Outcome refuse(const Work& work) {
        work.errors.add("vendor module not in this build");
        return Outcome::kPayload;
    }
    bool own_events_;
};

const AbsentModule kDefaultEvents(false), kOwnEvents(true);

struct Route {
    std::string_view source;
    const Module& module;
};
const Route kRoutes[] = {
    {"0x5e31bBc786D7bEd95216383787deA1ab0f1c1897", kDefaultEvents},   // AutoPi
    {"0xF26421509Efe92861a587482100c6d728aBf1CD0", kOwnEvents},       // Ruptela
    {"0x8D8cDB2B26423c8fDbb27321aF20b4659Ce919fD", kOwnEvents},       // Kaufmann, in Ruptela's dialect
    {"0x4c674ddE8189aEF6e3b58F5a36d7438b2b1f6Bc2", kDefaultEvents},   // HashDog
    {"0xc4035Fecb1cc906130423EF05f9C20977F643722", kDefaultEvents},   // Tesla
};

}  // namespace

const Module& moduleOf(std::string_view source) {
    for (const Route& route : kRoutes) {
        if (route.source == source) return route.module;
    }
    return defaultModule();
}

}  // namespace dq::decode
