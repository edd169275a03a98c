#include "formats/tensorflow_scan.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include "formats/failure.h"
#include "formats/wire.h"

namespace assay {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxDepth = 100;             // as deep as the decoder goes
constexpr std::size_t kMessageBytes = 64;  // of a message itself, beside
constexpr std::size_t kFieldBytes = 24;    // each field that it may have
constexpr std::size_t kTextBytes = 48;     // of a text beside its characters
constexpr std::size_t kNumberBytes = 8;

class Scan {
 public:
  explicit Scan(std::size_t most) : most_(most) {}
  std::size_t total() const { return total_; }

  void message(std::string_view bytes, const pb::Descriptor& type, int depth) {
    if (depth > kMaxDepth) throw FormatError("limit", "its messages are nested too deeply");
    add(kMessageBytes + kFieldBytes * static_cast<std::size_t>(type.field_count()));
    WireReader reader(bytes);
    while (const auto field = reader.next()) this->field(*field, type, depth);
    if (!reader.failure().empty()) {
      throw FormatError("unreadable", "not a whole TensorFlow graph: " + reader.failure());
    }
  }

 private:
  void add(std::size_t bytes) {
    total_ += bytes;
    if (total_ > most_) {
      throw FormatError("limit", fmt::format("decoded it would take more than {} bytes", most_));
    }
  }

  void field(const WireField& field, const pb::Descriptor& type, int depth) {
    const pb::FieldDescriptor* known = type.FindFieldByNumber(static_cast<int>(field.number));
    if (field.type != WireType::bytes) {
      add(kNumberBytes);
    } else if (known && known->type() == pb::FieldDescriptor::TYPE_MESSAGE) {
      message(field.bytes, *known->message_type(), depth + 1);
    } else if (known && known->is_packable()) {
      add(kNumberBytes * field.bytes.size());
    } else {
      add(kTextBytes + field.bytes.size());
    }
  }

  std::size_t most_, total_ = 0;
};

}  // namespace

std::size_t scan_message(std::string_view bytes, const pb::Descriptor& type, std::size_t most) {
  Scan scan(most);
  scan.message(bytes, type, 0);
  return scan.total();
}

}  // namespace assay
