#include "formats/tensorflow_scan.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include "formats/failure.h"

namespace assay {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxDepth = 100;

void scan(std::string_view bytes, const pb::Descriptor& type, DecodedSize& size, int depth) {
  if (depth > kMaxDepth) throw FormatError("limit", "its messages are nested too deeply");
  size.message(type.field_count());
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    const pb::FieldDescriptor* known = type.FindFieldByNumber(static_cast<int>(field->number));
    if (field->type != WireType::bytes) {
      size.number();
    } else if (known && known->type() == pb::FieldDescriptor::TYPE_MESSAGE) {
      scan(field->bytes, *known->message_type(), size, depth + 1);
    } else if (known && known->is_packable()) {
      size.packed(field->bytes);
    } else {
      size.text(field->bytes);
    }
  }
  require_whole(reader);
}

}  // namespace

void DecodedSize::fail() const {
  throw FormatError("limit", fmt::format("decoded it would take more than {} bytes", most_));
}

void scan_message(std::string_view bytes, const pb::Descriptor& type, DecodedSize& size) {
  scan(bytes, type, size, 0);
}

void require_whole(const WireReader& reader) {
  if (reader.failure().empty()) return;
  throw FormatError("unreadable", "not a whole TensorFlow graph: " + reader.failure());
}

}  // namespace assay
