#include "base/check.h"

#include <fmt/format.h>

namespace assay {

void fail_check(const char* condition, const char* file, int line) {
  throw Defect(fmt::format("{}:{}: {} does not hold", file, line, condition));
}

}  // namespace assay
