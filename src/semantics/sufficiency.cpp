#include "semantics/sufficiency.h"

namespace assay {
namespace {

thread_local const Sufficiency* asked = nullptr;

}  // namespace

const Sufficiency* sufficiency() { return asked; }

SufficiencyScope::SufficiencyScope(const Sufficiency* ask) : before_(asked) { asked = ask; }

SufficiencyScope::~SufficiencyScope() { asked = before_; }

}  // namespace assay
