// The newest version of a domain's operator set in the standard's table.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay {

std::int64_t newest_opset(std::string_view domain = "");  // 0 for a domain that it has not

}  // namespace assay
