#include "decode/default_module.h"
#include "decode/vendor_modules.h"

namespace dq::decode {
namespace {

struct Route {
    std::string_view source;
    const Module& (*module)();
};
constexpr Route kRoutes[] = {
    {"0x5e31bBc786D7bEd95216383787deA1ab0f1c1897", autoPiModule},
    {"0xF26421509Efe92861a587482100c6d728aBf1CD0", ruptelaModule},
    {"0x8D8cDB2B26423c8fDbb27321aF20b4659Ce919fD", ruptelaModule},  // Kaufmann, in Ruptela's dialect
    {"0x4c674ddE8189aEF6e3b58F5a36d7438b2b1f6Bc2", hashDogModule},
    {"0xc4035Fecb1cc906130423EF05f9C20977F643722", teslaModule},
};

}  // namespace

const Module& moduleOf(std::string_view source) {
    for (const Route& route : kRoutes) {
        if (route.source == source) return route.module();
    }
    return defaultModule();
}

}  // namespace dq::decode
