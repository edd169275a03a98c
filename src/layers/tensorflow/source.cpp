// Nodes without a meaning of their own: where values come from and go to, and control.
#include "layers/tensorflow/definitions.h"

namespace assay::tensorflow {
namespace {

constexpr std::string_view kParameters[] = {"AutoReloadVariable", "VarHandleOp", "Variable",
                                            "VariableV2"};

// A source reads what its first input names; its outputs have the types of an attribute.
struct Source {
  std::string_view op;
  int outputs;
  std::string_view types;
};
constexpr Source kSources[] = {
    {"DecodeRaw", 1, ""},
    {"IteratorGetNext", 0, "output_types"},
    {"IteratorGetNextSync", 0, "output_types"},
    {"ParseExample", 0, "Tdense"},
    {"ParseExampleV2", 0, "Tdense"},
    {"ParseSingleExample", 0, "Tdense"},
    {"QueueDequeue", 0, "component_types"},
    {"QueueDequeueMany", 0, "component_types"},
    {"QueueDequeueManyV2", 0, "component_types"},
    {"QueueDequeueUpTo", 0, "component_types"},
    {"QueueDequeueUpToV2", 0, "component_types"},
    {"QueueDequeueV2", 0, "component_types"},
    {"ReadFile", 1, ""},
    {"ReaderRead", 2, ""},
    {"ReaderReadV2", 2, ""},
    {"Unstage", 0, "dtypes"},
};

constexpr std::string_view kHandles[] = {"FIFOQueue",
                                         "FIFOQueueV2",
                                         "FixedLengthRecordReaderV2",
                                         "HashTableV2",
                                         "Iterator",
                                         "IteratorV2",
                                         "OneShotIterator",
                                         "PaddingFIFOQueueV2",
                                         "RandomShuffleQueue",
                                         "RandomShuffleQueueV2",
                                         "TFRecordReader",
                                         "TFRecordReaderV2",
                                         "TextLineReaderV2",
                                         "WholeFileReader",
                                         "WholeFileReaderV2"};

constexpr std::string_view kSilent[] = {"Assert",
                                        "AudioSummary",
                                        "AudioSummaryV2",
                                        "ControlTrigger",
                                        "HistogramSummary",
                                        "ImageSummary",
                                        "IteratorToStringHandle",
                                        "MakeIterator",
                                        "MergeSummary",
                                        "NoOp",

                                        "QueueClose",
                                        "QueueCloseV2",
                                        "QueueEnqueue",
                                        "QueueEnqueueMany",
                                        "QueueEnqueueManyV2",
                                        "QueueEnqueueV2",
                                        "QueueSize",
                                        "QueueSizeV2",
                                        "RestoreV2",
                                        "SaveV2",
                                        "ScalarSummary",
                                        "ShardedFilename",
                                        "MergeV2Checkpoints",
                                        "StringJoin"};

constexpr std::string_view kControl[] = {
    "Enter",   "Exit",     "LoopCond",         "Merge",     "NextIteration", "RefEnter",
    "RefExit", "RefMerge", "RefNextIteration", "RefSwitch", "Switch"};

}  // namespace

std::vector<Definition> source_definitions() {
  std::vector<Definition> all = {{"Const", nullptr, 1, "", Part::constant},
                                 {"Placeholder", nullptr, 1, "", Part::input},
                                 {"PlaceholderV2", nullptr, 1, "", Part::input},
                                 {"PlaceholderWithDefault", nullptr, 1, "", Part::defaulted}};
  for (const auto op : kParameters) all.push_back({op, nullptr, 1, "", Part::parameter});
  for (const Source& row : kSources) {
    all.push_back({row.op, nullptr, row.outputs, row.types, Part::source});
  }
  for (const auto op : kHandles) all.push_back({op, nullptr, 0, "", Part::handle});
  for (const auto op : kSilent) all.push_back({op, nullptr, 0, "", Part::silent});
  for (const auto op : kControl) all.push_back({op, nullptr, 1, "", Part::control});
  return all;
}

}  // namespace assay::tensorflow
