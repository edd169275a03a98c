// ai.onnx.ml: ensembles of decision trees.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "ops/families.h"
#include "ops/ml_scores.h"
#include "patterns/compute.h"

namespace assay {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

// Numbered as TreeEnsemble's nodes_modes.
enum class Branch : std::uint8_t {
  less_equal,
  less,
  greater_equal,
  greater,
  equal,
  not_equal,
  member,
  leaf
};

struct Vote {
  std::size_t target;
  double weight;
};

// A leaf has votes and no children.
struct TreeNode {
  Branch branch = Branch::leaf;
  std::int64_t feature = 0;
  double split = 0;
  std::vector<double> members;
  bool missing_is_true = false;
  std::size_t if_true = 0, if_false = 0;
  std::vector<Vote> votes;
};

enum class Aggregate : std::uint8_t { average, sum, smallest, largest };

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<std::size_t> roots;
  std::size_t targets = 1;
  Aggregate aggregate = Aggregate::sum;
  std::vector<double> base;  // one a target, or none
};

[[noreturn]] void broken(const Site& site, const std::string& what) {
  throw EvaluationError(site.node().op + ".tree", what);
}

// Every path from a root must end in a leaf: no child may be its own ancestor.
void check_forest(const Site& site, const Forest& forest, std::int64_t features) {
  std::vector<int> state(forest.nodes.size());  // 0 new, 1 on the path, 2 done
  std::vector<std::pair<std::size_t, int>> path;
  for (std::size_t root : forest.roots) {
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [at, step] = path.back();
      const TreeNode& node = forest.nodes[at];
      if (step == 0 && state[at] == 2) {
        path.pop_back();
        continue;
      }
      if (step == 0 && state[at] == 1) broken(site, fmt::format("node {} is its own ancestor", at));
      state[at] = 1;
      if (node.branch == Branch::leaf || step == 2) {
        state[at] = 2;
        path.pop_back();
        continue;
      }
      if (node.feature < 0 || node.feature >= features)
        broken(site, fmt::format("feature {} of {}", node.feature, features));
      const std::size_t child = step++ == 0 ? node.if_true : node.if_false;
      if (state[child] == 1) broken(site, fmt::format("node {} is its own ancestor", child));
      path.emplace_back(child, 0);
    }
  }
}

template <class S>
Condition<S> holds(const TreeNode& node, const S& x) {
  const S split = constant<S>(node.split);
  switch (node.branch) {
    case Branch::less_equal:
      return less_equal(x, split);
    case Branch::less:
      return less(x, split);
    case Branch::greater_equal:
      return greater_equal(x, split);
    case Branch::greater:
      return greater(x, split);
    case Branch::equal:
      return equal(x, split);
    case Branch::not_equal:
      return negate(equal(x, split));
    default:
      break;
  }
  Condition<S> found = equal(x, constant<S>(node.members.empty() ? node.split : node.members[0]));
  for (std::size_t i = 1; i < node.members.size(); ++i)
    found = either(found, equal(x, constant<S>(node.members[i])));
  return found;
}

bool certain(bool) { return true; }
bool certain(Truth c) { return c.is_known(); }
bool truth_of(bool c) { return c; }
bool truth_of(Truth c) { return c.value; }

// What one tree says of each target, for one row: the hull of all leaves that may be reached.
template <class S>
struct Said {
  std::vector<S> scores;
  std::vector<bool> voted;
};

template <class S>
Said<S> ask(const Forest& forest, std::size_t at, const S* row) {
  const TreeNode* node = &forest.nodes[at];
  while (node->branch != Branch::leaf) {
    const S& x = row[node->feature];
    Condition<S> condition = holds(*node, x);
    if (node->missing_is_true) condition = either(condition, is_nan(x));
    if (!certain(condition)) {
      Said<S> yes = ask(forest, node->if_true, row);
      const Said<S> no = ask(forest, node->if_false, row);
      for (std::size_t t = 0; t < yes.scores.size(); ++t) {
        yes.scores[t] = select(condition, yes.scores[t], no.scores[t]);
        yes.voted[t] = yes.voted[t] || no.voted[t];
      }
      return yes;
    }
    node = &forest.nodes[truth_of(condition) ? node->if_true : node->if_false];
  }
  Said<S> result{std::vector<S>(forest.targets, zero<S>()), std::vector<bool>(forest.targets)};
  for (const Vote& vote : node->votes) {
    result.scores[vote.target] = result.voted[vote.target]
                                     ? result.scores[vote.target] + constant<S>(vote.weight)
                                     : constant<S>(vote.weight);
    result.voted[vote.target] = true;
  }
  return result;
}

template <class S>
S aggregated(const Forest& forest, std::span<const S> votes) {
  switch (forest.aggregate) {
    case Aggregate::smallest:
      return votes.empty() ? zero<S>() : minimum(votes);
    case Aggregate::largest:
      return votes.empty() ? zero<S>() : maximum(votes);
    case Aggregate::average:
      return sum(votes) /
             constant<S>(static_cast<double>(std::max<std::size_t>(1, forest.roots.size())));
    case Aggregate::sum:
      break;
  }
  return sum(votes);
}

// Scores of all rows, a row a line.
template <class S>
Array<S> scores_of(const Forest& forest, const Array<S>& x) {
  const std::int64_t features = x.shape.back(), rows = x.shape.size() == 1 ? 1 : x.shape[0];
  Array<S> y(Shape{rows, static_cast<std::int64_t>(forest.targets)});
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<std::vector<S>> votes(forest.targets);
    for (std::size_t root : forest.roots) {
      const Said<S> said = ask(forest, root, x.data.data() + r * features);
      for (std::size_t t = 0; t < forest.targets; ++t)
        if (said.voted[t]) votes[t].push_back(said.scores[t]);
    }
    for (std::size_t t = 0; t < forest.targets; ++t) {
      S total = aggregated(forest, std::span<const S>(votes[t]));
      if (!forest.base.empty())
        total = total + constant<S>(forest.base[forest.base.size() == 1 ? 0 : t]);
      y[r * static_cast<std::int64_t>(forest.targets) + static_cast<std::int64_t>(t)] = total;
    }
  }
  return y;
}

// A list attribute, or its tensor twin of version 3.
std::vector<double> numbers(const Site& site, const std::string& name) {
  if (const Tensor* tensor = site.tensor(name + "_as_tensor")) return tensor->reals();
  if (const Tensor* tensor = site.tensor(name)) return tensor->reals();
  return site.reals(name);
}

Branch branch_of(const Site& site, const std::string& word) {
  static const std::map<std::string, Branch> kWords = {{"BRANCH_LEQ", Branch::less_equal},
                                                       {"BRANCH_LT", Branch::less},
                                                       {"BRANCH_GTE", Branch::greater_equal},
                                                       {"BRANCH_GT", Branch::greater},
                                                       {"BRANCH_EQ", Branch::equal},
                                                       {"BRANCH_NEQ", Branch::not_equal},
                                                       {"LEAF", Branch::leaf}};
  const auto found = kWords.find(word);
  if (found == kWords.end()) broken(site, fmt::format("{} is no mode of a node", in_quotes(word)));
  return found->second;
}

Aggregate aggregate_of(const std::string& word) {
  if (word == "AVERAGE") return Aggregate::average;
  if (word == "MIN") return Aggregate::smallest;
  return word == "MAX" ? Aggregate::largest : Aggregate::sum;
}

// The older operators: nodes and votes are rows of parallel lists, found by (tree, node) ids.
Forest older_forest(const Site& site, const std::string& votes, std::size_t targets) {
  Forest forest;
  forest.targets = targets;
  forest.aggregate = aggregate_of(site.text("aggregate_function"));
  forest.base = numbers(site, "base_values");
  const auto &trees = site.integers("nodes_treeids"), &ids = site.integers("nodes_nodeids");
  const auto &features = site.integers("nodes_featureids"),
             &yes = site.integers("nodes_truenodeids");
  const auto &no = site.integers("nodes_falsenodeids"),
             &missing = site.integers("nodes_missing_value_tracks_true");
  const auto splits = numbers(site, "nodes_values");
  const auto& modes = site.texts("nodes_modes");
  const std::size_t count = modes.size();
  for (const std::size_t length :
       {trees.size(), ids.size(), features.size(), yes.size(), no.size(), splits.size()})
    if (length != count) broken(site, "the lists nodes_* are not of one length");
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair(trees[i], ids[i]), i).second)
      broken(site, "a node id occurs twice in a tree");
    if (i == 0 || trees[i] != trees[i - 1]) forest.roots.push_back(i);
  }
  const auto place = [&](std::int64_t tree, std::int64_t id) {
    const auto found = places.find({tree, id});
    if (found == places.end()) broken(site, fmt::format("tree {} has no node {}", tree, id));
    return found->second;
  };
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode node;
    node.branch = branch_of(site, modes[i]);
    node.feature = features[i];
    node.split = splits[i];
    node.missing_is_true = i < missing.size() && missing[i] != 0;
    if (node.branch != Branch::leaf) {
      node.if_true = place(trees[i], yes[i]);
      node.if_false = place(trees[i], no[i]);
    }
    forest.nodes.push_back(std::move(node));
  }
  const auto vote_trees = site.integers(votes + "_treeids"),
             vote_nodes = site.integers(votes + "_nodeids");
  const auto vote_ids = site.integers(votes + "_ids");
  const auto weights = numbers(site, votes + "_weights");
  if (vote_trees.size() != weights.size() || vote_nodes.size() != weights.size() ||
      vote_ids.size() != weights.size())
    broken(site, fmt::format("the lists {}_* are not of one length", votes));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (vote_ids[i] < 0 || static_cast<std::size_t>(vote_ids[i]) >= targets)
      broken(site, fmt::format("a vote for {} of {}", vote_ids[i], targets));
    forest.nodes[place(vote_trees[i], vote_nodes[i])].votes.push_back(
        {static_cast<std::size_t>(vote_ids[i]), weights[i]});
  }
  return forest;
}

// TreeEnsemble: inner nodes and leaves in lists of their own, children by index.
Forest newer_forest(const Site& site) {
  Forest forest;
  forest.targets = static_cast<std::size_t>(site.integer("n_targets", 1));
  static constexpr Aggregate kAggregates[] = {Aggregate::average, Aggregate::sum,
                                              Aggregate::smallest, Aggregate::largest};
  forest.aggregate = kAggregates[site.integer("aggregate_function", 1)];
  const auto &features = site.integers("nodes_featureids"),
             &missing = site.integers("nodes_missing_value_tracks_true");
  const auto &yes = site.integers("nodes_truenodeids"), &no = site.integers("nodes_falsenodeids");
  const auto &yes_leaf = site.integers("nodes_trueleafs"),
             &no_leaf = site.integers("nodes_falseleafs");
  const auto modes = numbers(site, "nodes_modes"), splits = numbers(site, "nodes_splits");
  const auto members = numbers(site, "membership_values"), weights = numbers(site, "leaf_weights");
  const auto& leaf_targets = site.integers("leaf_targetids");
  const std::size_t inner = modes.size(), leaves = weights.size();
  for (const std::size_t length :
       {features.size(), yes.size(), no.size(), yes_leaf.size(), no_leaf.size(), splits.size()})
    if (length != inner) broken(site, "the lists nodes_* are not of one length");
  if (leaf_targets.size() != leaves) broken(site, "the lists leaf_* are not of one length");
  const auto child = [&](std::int64_t id, bool leaf) {
    if (id < 0 || static_cast<std::size_t>(id) >= (leaf ? leaves : inner))
      broken(site, fmt::format("a child {}", id));
    return static_cast<std::size_t>(id) + (leaf ? inner : 0);
  };
  std::size_t next_member = 0;
  for (std::size_t i = 0; i < inner; ++i) {
    TreeNode node;
    if (!(modes[i] >= 0 && modes[i] <= 6)) broken(site, fmt::format("mode {} of a node", modes[i]));
    node.branch = static_cast<Branch>(static_cast<int>(modes[i]));
    node.feature = features[i];
    node.split = splits[i];
    node.missing_is_true = i < missing.size() && missing[i] != 0;
    node.if_true = child(yes[i], yes_leaf[i] != 0);
    node.if_false = child(no[i], no_leaf[i] != 0);
    if (node.branch == Branch::member) {  // the sets follow each other, each ended by a NaN
      for (; next_member < members.size() && !std::isnan(members[next_member]); ++next_member)
        node.members.push_back(members[next_member]);
      ++next_member;
    }
    forest.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    if (leaf_targets[i] < 0 || static_cast<std::size_t>(leaf_targets[i]) >= forest.targets)
      broken(site, fmt::format("a leaf for target {} of {}", leaf_targets[i], forest.targets));
    TreeNode leaf;
    leaf.votes = {{static_cast<std::size_t>(leaf_targets[i]), weights[i]}};
    forest.nodes.push_back(std::move(leaf));
  }
  for (std::int64_t root : site.integers("tree_roots")) forest.roots.push_back(child(root, false));
  return forest;
}

struct TreeEnsemble {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0);
    const Forest forest = newer_forest(f.site());
    check_forest(f.site(), forest, x.shape.back());
    Array<S> y = scores_of(forest, x);
    static constexpr PostTransform kTransforms[] = {
        PostTransform::none, PostTransform::softmax, PostTransform::logistic,
        PostTransform::softmax_zero, PostTransform::probit};
    transform_rows(kTransforms[f.site().integer("post_transform")], y);
    f.output(0, y);
  }
};

struct TreeEnsembleRegressor {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0);
    const Forest forest = older_forest(f.site(), "target",
                                       static_cast<std::size_t>(f.site().integer("n_targets", 1)));
    check_forest(f.site(), forest, x.shape.back());
    Array<S> y = scores_of(forest, x);
    transform_rows(post_transform_of(f.site().text("post_transform")), y);
    f.output(0, y);
  }
};

// With votes for one class only the scores are those of two: the class and its complement.
struct TreeEnsembleClassifier {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0);
    const Tensor labels = class_labels(f.site(), "classlabels_strings", "classlabels_int64s");
    const auto classes = static_cast<std::size_t>(labels.size());
    const Forest forest = older_forest(f.site(), "class", classes);
    check_forest(f.site(), forest, x.shape.back());
    Array<S> scores = scores_of(forest, x);
    const PostTransform transform = post_transform_of(f.site().text("post_transform"));
    const std::vector<std::int64_t>& ids = f.site().integers("class_ids");
    if (std::set<std::int64_t>(ids.begin(), ids.end()).size() == 1 && classes <= 2)
      scores = with_complement(
          scores, transform == PostTransform::none || transform == PostTransform::probit);
    transform_rows(transform, scores);
    f.output(0, chosen_labels(f, scores, labels));
    f.output(1, scores);
  }
};

void require_rows(Check& c) {
  require_post_transform(c);
  if (c.rank("X", between(1, 2))) c.in_range("n_targets", between(1, std::int64_t{1} << 20));
  c.one_of("aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"});
}

void require_tree_ensemble(Check& c) {
  c.rank("X", exactly(2));
  c.in_range("n_targets", between(1, std::int64_t{1} << 20));
  c.in_range("aggregate_function", between(0, 3));
  c.in_range("post_transform", between(0, 4));
}

void require_classifier(Check& c) {
  require_post_transform(c);
  c.rank("X", between(1, 2));
  require_labels(c, "classlabels_strings", "classlabels_int64s");
}

void infer_targets(Infer& n, ElementType type) {
  const Dims* x = n.dims(0);
  n.output(0, type,
           {x && x->size() == 2 ? (*x)[0]
            : x                 ? Dim(1)
                                : Dim(),
            Dim(n.site.integer("n_targets", 1))});
}

std::vector<AttributeRole> older_roles(std::initializer_list<std::string_view> own) {
  std::vector<AttributeRole> roles = {{"post_transform", Role::choice}};
  for (std::string_view name :
       {"base_values", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
        "nodes_missing_value_tracks_true", "nodes_modes", "nodes_nodeids", "nodes_treeids",
        "nodes_truenodeids", "nodes_values"})
    roles.push_back({name, Role::table});
  for (std::string_view name :
       {"base_values_as_tensor", "nodes_hitrates_as_tensor", "nodes_values_as_tensor"})
    roles.push_back({name, Role::value});
  for (std::string_view name : own)
    roles.push_back({name, name.ends_with("_as_tensor") ? Role::value : Role::table});
  return roles;
}

}  // namespace

std::vector<Operator> ml_trees_operators() {
  std::vector<AttributeRole> regressor =
      older_roles({"target_ids", "target_nodeids", "target_treeids", "target_weights",
                   "target_weights_as_tensor"});
  regressor.push_back({"aggregate_function", Role::choice});
  regressor.push_back({"n_targets", Role::count});
  return {{.name = "TreeEnsemble",
           .domain = kDomain,
           .versions = {5},
           .summary = "Leaf weights of decision trees, aggregated by target.",
           .attributes = {{"aggregate_function", Role::number},
                          {"leaf_targetids", Role::table},
                          {"leaf_weights", Role::value},
                          {"membership_values", Role::value},
                          {"n_targets", Role::count},
                          {"nodes_falseleafs", Role::table},
                          {"nodes_falsenodeids", Role::table},
                          {"nodes_featureids", Role::table},
                          {"nodes_hitrates", Role::value},
                          {"nodes_missing_value_tracks_true", Role::table},
                          {"nodes_modes", Role::value},
                          {"nodes_splits", Role::value},
                          {"nodes_trueleafs", Role::table},
                          {"nodes_truenodeids", Role::table},
                          {"post_transform", Role::number},
                          {"tree_roots", Role::table}},
           .require = require_tree_ensemble,
           .infer = [](Infer& n) { infer_targets(n, n.element(0)); },
           .meaning = compute<TreeEnsemble>(Pattern::gather)},
          {.name = "TreeEnsembleClassifier",
           .domain = kDomain,
           .versions = {1, 3, 5},
           .summary = "The class for which most decision trees vote, and the scores of all.",
           .attributes = older_roles({"class_ids", "class_nodeids", "class_treeids",
                                      "class_weights", "class_weights_as_tensor",
                                      "classlabels_int64s", "classlabels_strings"}),
           .require = require_classifier,
           .infer = infer_classifier,
           .meaning = compute<TreeEnsembleClassifier>(Pattern::gather)},
          {.name = "TreeEnsembleRegressor",
           .domain = kDomain,
           .versions = {1, 3, 5},
           .summary = "Target weights of decision trees, aggregated.",
           .attributes = regressor,
           .require = require_rows,
           .infer = [](Infer& n) { infer_targets(n, ElementType::f32); },
           .meaning = compute<TreeEnsembleRegressor>(Pattern::gather)}};
}

}  // namespace assay
