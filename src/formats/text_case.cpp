#include "formats/text_case.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/text_value.h"
#include "graph/names.h"

namespace assay {
namespace {

class CaseParser {
 public:
  CaseParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}
  std::vector<TextCase> parse();

 private:
  std::optional<std::string> next_line();
  void parse_line(TextCursor& cursor);
  void parse_word(const std::string& word, TextCursor& cursor);
  void start_case(TextCursor& cursor);
  void finish_case();
  void parse_node(TextCursor& cursor);
  void parse_attributes(TextCursor& cursor, Node& node);
  NamedValue parse_named_value(TextCursor& cursor);
  void parse_variant(TextCursor& cursor);
  void parse_change(TextCursor& cursor, bool refused);
  void parse_changed_input(TextCursor& cursor, TextChange& change);
  void parse_graph(TextCursor& cursor);
  std::vector<NamedType> parse_formals(TextCursor& cursor);
  void parse_graph_line(TextCursor& cursor, Graph& graph);
  void add_name(TextCursor& cursor, const std::string& name);
  TextCase& current() { return cases_.back(); }

  std::string_view text_;
  const std::string& file_;
  int line_ = 0;        // of the text that was read last
  int first_line_ = 0;  // of a line that goes on over several
  bool has_node_ = false;
  std::vector<TextCase> cases_;
  std::set<std::string> names_;  // of the case's values
  TextGraphs graphs_;
};

// The next line with all that continues it; nullopt at the end.
std::optional<std::string> CaseParser::next_line() {
  if (text_.empty()) return std::nullopt;
  std::string line;
  first_line_ = line_ + 1;
  for (bool goes_on = true; goes_on && !text_.empty();) {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view part = without_comment(text_.substr(0, end));
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_;
    while (!part.empty() && (part.back() == ' ' || part.back() == '\r')) part.remove_suffix(1);
    goes_on = part.ends_with('\\');
    if (goes_on) part.remove_suffix(1);
    line += part;
    line += ' ';
  }
  return line;
}

std::vector<TextCase> CaseParser::parse() {
  while (const auto line = next_line()) {
    TextCursor cursor(*line, file_, first_line_);
    if (!cursor.at_end()) parse_line(cursor);
  }
  if (!cases_.empty()) finish_case();
  return std::move(cases_);
}

void CaseParser::parse_line(TextCursor& cursor) {
  const std::string word = cursor.word("a word");
  if (word == "case") {
    start_case(cursor);
  } else if (cases_.empty()) {
    cursor.refuse(fmt::format("'case' is expected first, there is {}", in_quotes(word)));
  } else {
    parse_word(word, cursor);
  }
  if (!cursor.at_end()) cursor.fail("the end of the line");
}

void CaseParser::parse_word(const std::string& word, TextCursor& cursor) {
  const bool needs_node = word == "variant" || word == "refuse" || word == "legal";
  if (needs_node && !has_node_) cursor.refuse(fmt::format("'node' must stand before '{}'", word));
  if (word == "opset") {
    current().opset = parse_whole_number(cursor);
  } else if (word == "domain") {
    current().node.domain = cursor.word("a domain");
  } else if (word == "node") {
    parse_node(cursor);
  } else if (word == "in" || word == "out") {
    const bool is_input = word == "in";
    NamedValue value = parse_named_value(cursor);
    add_name(cursor, value.name);
    (is_input ? current().node.inputs : current().node.outputs).push_back(value.name);
    (is_input ? current().inputs : current().outputs).push_back(std::move(value));
  } else if (word == "tolerance") {
    const double relative = parse_number(cursor);
    current().tolerance = {relative, parse_number(cursor)};
  } else if (word == "variant") {
    parse_variant(cursor);
  } else if (word == "refuse" || word == "legal") {
    parse_change(cursor, word == "refuse");
  } else if (word == "graph") {
    parse_graph(cursor);
  } else {
    cursor.refuse(fmt::format(
        "case, opset, domain, node, in, out, tolerance, variant, refuse, legal or graph is "
        "expected, there is {}",
        in_quotes(word)));
  }
}

void CaseParser::start_case(TextCursor& cursor) {
  if (!cases_.empty()) finish_case();
  const std::string name = cursor.word("a name for the case");
  if (std::ranges::find(cases_, name, &TextCase::name) != cases_.end()) {
    cursor.refuse(fmt::format("there is already a case '{}'", name));
  }
  TextCase fresh;
  fresh.file = file_;
  fresh.name = name;
  fresh.line = cursor.number();
  cases_.push_back(std::move(fresh));
  has_node_ = false;
  names_.clear();
  graphs_.clear();
}

// What changes is made of the whole case, so it waits for the case's end.
void CaseParser::finish_case() {
  TextCase& done = current();
  const TextCursor cursor("", file_, done.line);
  if (!has_node_) cursor.refuse(fmt::format("case '{}' has no node", done.name));
  for (std::vector<TextChange>* changes : {&done.refusals, &done.legal}) {
    for (TextChange& change : *changes) {
      change.node.op = done.node.op;
      change.node.domain = done.node.domain;
      change.node.inputs = done.node.inputs;
      change.node.outputs = done.node.outputs;
      std::vector<NamedValue> inputs = done.inputs;
      for (NamedValue& replaced : change.inputs) {
        const auto place = std::ranges::find(inputs, replaced.name, &NamedValue::name);
        if (place == inputs.end()) {
          TextCursor("", file_, change.line)
              .refuse(fmt::format("the case has no input '{}'", replaced.name));
        }
        const auto index = static_cast<std::size_t>(place - inputs.begin());
        if (!replaced.value.present()) replaced.name.clear();
        change.node.inputs[index] = replaced.name;
        *place = std::move(replaced);
      }
      change.inputs = std::move(inputs);
    }
  }
  for (const TextVariant& variant : done.variants) {
    if (std::ranges::find(done.outputs, variant.output, &NamedValue::name) == done.outputs.end()) {
      TextCursor("", file_, variant.line)
          .refuse(fmt::format("the case has no output '{}'", variant.output));
    }
  }
}

void CaseParser::add_name(TextCursor& cursor, const std::string& name) {
  if (!name.empty() && !names_.insert(name).second) {
    cursor.refuse(fmt::format("the case already has a value '{}'", name));
  }
}

void CaseParser::parse_node(TextCursor& cursor) {
  if (has_node_) cursor.refuse("a case has one node");
  has_node_ = true;
  current().node.op = cursor.word("an operator");
  parse_attributes(cursor, current().node);
}

// name=value …, up to the end, an arrow or `in`; `name=-` takes an attribute away.
void CaseParser::parse_attributes(TextCursor& cursor, Node& node) {
  while (!cursor.at_end() && !cursor.starts_with("->") && !cursor.starts_with("in ")) {
    const std::string name = cursor.word("an attribute");
    cursor.expect("=");
    if (cursor.accept("- ")) {
      std::erase_if(node.attributes, [&](const Attribute& a) { return a.name == name; });
    } else {
      node.set(name, parse_attribute(cursor, graphs_));
    }
  }
}

NamedValue CaseParser::parse_named_value(TextCursor& cursor) {
  NamedValue named{cursor.name("a name")};
  if (named.name.empty()) return named;
  const ValueType type = parse_type(cursor);
  cursor.expect("=");
  named.value = parse_value(cursor, type);
  return named;
}

void CaseParser::parse_variant(TextCursor& cursor) {
  TextVariant variant;
  variant.line = cursor.number();
  variant.name = cursor.word("a variant");
  NamedValue value = parse_named_value(cursor);
  variant.output = value.name;
  variant.value = std::move(value.value);
  current().variants.push_back(std::move(variant));
}

void CaseParser::parse_changed_input(TextCursor& cursor, TextChange& change) {
  TextCursor ahead = cursor;
  const std::string name = ahead.name("an input");
  if (name.empty()) cursor.refuse("an input that is not given cannot be changed");
  if (ahead.accept("- ")) {
    cursor = ahead;
    change.inputs.push_back({name});
  } else {
    change.inputs.push_back(parse_named_value(cursor));
  }
}

void CaseParser::parse_change(TextCursor& cursor, bool refused) {
  TextChange change;
  change.line = cursor.number();
  change.text = TextCursor(cursor).rest();
  change.node = current().node;
  if (cursor.at_end() || cursor.starts_with("->")) cursor.fail("an attribute or `in`");
  parse_attributes(cursor, change.node);
  while (cursor.accept("in ")) parse_changed_input(cursor, change);
  if (refused) {
    cursor.expect("->");
    change.rule = cursor.word("a rule");
  }
  (refused ? current().refusals : current().legal).push_back(std::move(change));
}

std::vector<NamedType> CaseParser::parse_formals(TextCursor& cursor) {
  std::vector<NamedType> formals;
  cursor.expect("(");
  while (!cursor.accept(")")) {
    if (!formals.empty()) cursor.expect(",");
    NamedType formal{cursor.word("a name"), {}};
    const char next = cursor.peek();
    if (next != ',' && next != ')') formal.type = parse_type(cursor);
    formals.push_back(std::move(formal));
  }
  return formals;
}

void CaseParser::parse_graph(TextCursor& cursor) {
  Graph graph;
  graph.name = cursor.word("a graph's name");
  graph.inputs = parse_formals(cursor);
  cursor.expect("->");
  graph.outputs = parse_formals(cursor);
  cursor.expect("{");
  while (true) {
    const auto line = next_line();
    if (!line) cursor.refuse(fmt::format("graph '{}' does not end with '}}'", graph.name));
    TextCursor inner(*line, file_, first_line_);
    if (inner.at_end()) continue;
    const bool ends = inner.accept("}");
    if (!ends) parse_graph_line(inner, graph);
    if (!inner.at_end()) inner.fail("the end of the line");
    if (ends) break;
  }
  const std::string name = graph.name;
  if (!graphs_.emplace(name, std::make_shared<const Graph>(std::move(graph))).second) {
    cursor.refuse(fmt::format("the case already has a graph '{}'", name));
  }
}

void CaseParser::parse_graph_line(TextCursor& cursor, Graph& graph) {
  Node node;
  do {
    node.outputs.push_back(cursor.name("an output"));
  } while (cursor.accept(","));
  cursor.expect("=");
  TextCursor ahead = cursor;
  const std::string op = ahead.word("an operator or a type");
  if (!ahead.glued('(')) {
    const AttributeValue value = parse_attribute(cursor, graphs_);
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr || node.outputs.size() != 1) cursor.refuse("a tensor is expected");
    graph.initializers.push_back({node.outputs[0], *tensor});
    return;
  }
  cursor = ahead;
  const std::size_t dot = op.rfind('.');
  node.domain = dot == std::string::npos ? "" : op.substr(0, dot);
  node.op = dot == std::string::npos ? op : op.substr(dot + 1);
  cursor.expect("(");
  while (!cursor.accept(")")) {
    if (!node.inputs.empty()) cursor.expect(",");
    const bool left_out = cursor.starts_with(",") || cursor.starts_with(")");
    node.inputs.push_back(left_out ? "" : cursor.name("an input"));
  }
  parse_attributes(cursor, node);
  graph.nodes.push_back(std::move(node));
}

Result<std::vector<TextCase>> guarded_parse(std::string_view text, const std::string& file) {
  try {
    return CaseParser(text, file).parse();
  } catch (const FormatError& error) {
    return Error{error.kind(), error.what(), file};
  }
}

}  // namespace

Result<std::vector<TextCase>> parse_cases(std::string_view text, const std::string& file) {
  return guarded_parse(text, file);
}

Result<std::vector<TextCase>> read_cases(const std::filesystem::path& path) {
  const auto bytes = guard_format(path.string(), [&] { return map_file(path); });
  if (!bytes) return bytes.error();
  return guarded_parse(bytes->bytes, path.string());
}

}  // namespace assay
