// Variables: what they are read as, and the value that each assignment gives them.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

void assigned(Builder& b) { b.output(0, b("Identity", {b.input(1)})); }

void read(Builder& b) { b.output(0, b("Identity", {b.input(0)})); }

void added(Builder& b) { b.output(0, b("Add", {b.input(0), b.input(1)})); }

void subtracted(Builder& b) { b.output(0, b("Sub", {b.input(0), b.input(1)})); }

// (variable, indices, rows)
void scatter(Builder& b, const std::string& rows, const char* reduction) {
  const std::string places = b("Unsqueeze", {indices(b, 1), b.integers({-1})});
  b.output(0, b("ScatterND", {b.input(0), places, rows}, {attribute("reduction", reduction)}));
}

void scatter_add(Builder& b) { scatter(b, b.input(2), "add"); }

void scatter_sub(Builder& b) { scatter(b, b("Neg", {b.input(2)}), "add"); }

void scatter_update(Builder& b) { scatter(b, b.input(2), "none"); }

// A graph is run on variables that have their values.
void initialized(Builder& b) { b.output(0, b.constant(make_scalar(ElementType::boolean, 1))); }

// (variable, mean square, momentum, rate, rho, momentum's share, epsilon, gradient, rows): the rows
// take the step that all would take.
void sparse_rms_prop(Builder& b) {
  const auto rows_of = [&](std::size_t i) {
    return b("Gather", {b.input(i), indices(b, 8)}, {attribute("axis", 0)});
  };
  const std::string gradient = b.input(7), old = rows_of(1);
  const std::string mean =
      b("Add", {b("Mul", {square(b, gradient), b("Sub", {number(b, 1), b.input(4)})}),
                b("Mul", {old, b.input(4)})});
  const std::string root = b("Sqrt", {b("Add", {mean, b.input(6)})});
  const std::string step = b("Div", {b("Mul", {gradient, b.input(3)}), root});
  const std::string sum = b("Add", {b("Mul", {rows_of(2), b.input(5)}), step});
  const std::string places = b("Unsqueeze", {indices(b, 8), b.integers({-1})});
  b.output(0,
           b("ScatterND", {b.input(0), places, b("Neg", {sum})}, {attribute("reduction", "add")}));
}

}  // namespace

std::vector<Definition> state_definitions() {
  return {{"Assign", assigned},
          {"AssignAdd", added},
          {"AssignAddVariableOp", added},
          {"AssignSub", subtracted},
          {"AssignSubVariableOp", subtracted},
          {"AssignVariableOp", assigned},
          {"IsVariableInitialized", initialized},
          {"ReadVariableOp", read},
          {"ResourceScatterAdd", scatter_add},
          {"ResourceScatterSub", scatter_sub},
          {"ResourceScatterUpdate", scatter_update},
          {"ScatterAdd", scatter_add},
          {"ScatterSub", scatter_sub},
          {"ScatterUpdate", scatter_update},
          {"SparseApplyRMSProp", sparse_rms_prop},
          {"VarIsInitializedOp", initialized}};
}

}  // namespace assay::tensorflow
