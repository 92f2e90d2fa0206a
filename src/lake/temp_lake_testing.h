// A lake in a temp folder for tests, on a catalog file or in a PostgreSQL database of its own (DQ_TEST_POSTGRES_DSN
// names the server; tests are skipped without it). Everything is removed with the object.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cloudevent/cloudevent.h"
#include "lake/lake.h"

namespace dq::lake {

std::string catalogName(const testing::TestParamInfo<CatalogKind>& run);

class TempLake {
  public:
    explicit TempLake(CatalogKind kind);
    ~TempLake();
    // True when this kind cannot run here.
    static bool unavailable(CatalogKind kind);

    LakeConfig config() const;
    // Opens the lake as a writer; closed by close() and reopened by the next call.
    Lakes& lakes();
    Lake& writer() { return lakes().writer(); }
    void close() { lakes_.reset(); }

    // Rows of a statement as text, columns joined by '|', NULL as "-".
    std::vector<std::string> rows(const std::string& sql);
    std::string value(const std::string& sql);
    std::int64_t number(const std::string& sql);
    void run(const std::string& sql);
    std::string folder() const { return folder_; }

  private:
    CatalogKind kind_;
    std::string folder_, database_;
    std::unique_ptr<Lakes> lakes_;
};

// A dimo.status event of the default module: one reading of one name.
cloudevent::Row statusRow(int vehicle, const std::string& id, Micros time, const std::string& name, double value);
cloudevent::Row payloadRow(int vehicle, const std::string& type, const std::string& id, Micros time,
                           const std::string& payload);
std::string subjectOf(int vehicle);

}  // namespace dq::lake
