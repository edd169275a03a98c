// TfIdfVectorizer: counts of n-grams.
#pragma once

#include "ops/operator.h"

namespace assay {

Operator tf_idf_vectorizer();

}  // namespace assay
