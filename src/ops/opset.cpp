#include "ops/opset.h"

#include <algorithm>

#include "ops/schema.h"

namespace assay {

std::int64_t newest_opset(std::string_view domain) {
  std::int64_t newest = 0;
  for (const Schema& schema : schemas()) {
    if (schema.domain == domain) newest = std::max<std::int64_t>(newest, schema.since_version);
  }
  return newest;
}

}  // namespace assay
