// ASSAY_CHECK: a condition that only a defect of Assay itself can break; on in all builds.
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

// Thrown by ASSAY_CHECK and caught in main, which exits with 70.
class Defect : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line);

}  // namespace assay

#define ASSAY_CHECK(condition)                                  \
  do {                                                          \
    if (!(condition)) [[unlikely]]                              \
      ::assay::fail_check(#condition, __FILE_NAME__, __LINE__); \
  } while (false)
