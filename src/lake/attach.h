// The statements that prepare a connection: limits, extensions, secret, catalog and side database (lake.md §1, §2).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lake/lake.h"

namespace dq::lake {

// DSN that an attach of this config uses: the replica only when the attach is read-only and one is given.
std::string effectiveDsn(const LakeConfig& config);
// LOAD statement of an extension: its file in the folder given (flat, or in the engine's own layout), else by name.
std::string loadStatement(std::string_view extension_directory, std::string_view name);
// Folder of extensions when none is configured: "extensions" beside the executable, or "" when there is none.
std::string defaultExtensionDirectory();
std::string attachLakeStatement(const LakeConfig& config);
std::string attachMetaStatement(const LakeConfig& config);
std::string createSecretStatement(const S3Config& s3);

}  // namespace dq::lake
