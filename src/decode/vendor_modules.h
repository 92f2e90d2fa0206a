// The vendor dialects. Tables are parsed at first use and live as long as the process.
#pragma once
#include "decode/module.h"

namespace dq::decode {

const Module& autoPiModule();
const Module& hashDogModule();
const Module& ruptelaModule();
const Module& teslaModule();

}  // namespace dq::decode
