// Metadata: pairs of texts, in file order, and lists of them that many nodes share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay {

using Properties = std::vector<std::pair<std::string, std::string>>;

// All nodes that stand for one operation of a framework have the same origin: they hold one list
// until somebody adds to one of them.
class SharedProperties {
 public:
  SharedProperties() = default;
  SharedProperties(Properties list)  // NOLINT(google-explicit-constructor)
      : list_(list.empty() ? nullptr : std::make_shared<Properties>(std::move(list))) {}

  operator const Properties&() const {  // NOLINT(google-explicit-constructor)
    static const Properties kNone;
    return list_ ? *list_ : kNone;
  }
  auto begin() const { return static_cast<const Properties&>(*this).begin(); }
  auto end() const { return static_cast<const Properties&>(*this).end(); }

  void add(std::string key, std::string value) {
    if (!list_)
      list_ = std::make_shared<Properties>();
    else if (list_.use_count() > 1)
      list_ = std::make_shared<Properties>(*list_);
    list_->emplace_back(std::move(key), std::move(value));
  }

 private:
  std::shared_ptr<Properties> list_;
};

}  // namespace assay
