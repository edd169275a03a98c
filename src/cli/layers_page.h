// Keras' layers as pages: what each takes, what it has, and the graph that it means.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "layers/keras/layer.h"

namespace assay {

nlohmann::ordered_json layer_json(const keras::Layer& layer);
std::string layer_list();                           // a line each
std::string layer_page(const keras::Layer& layer);  // all about one, as Markdown
std::string layer_reference();                      // all about all, as Markdown

}  // namespace assay
