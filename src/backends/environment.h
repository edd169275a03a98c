// Environments: files that say which Python and which packages a framework's worker needs.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay {

// Releases before a version need other packages beside the framework, or older Pythons.
struct OlderReleases {
  std::string before;
  std::vector<std::string> packages, pythons;
};

struct Environment {
  std::string name;                   // of the file, without ".toml"
  std::string framework;              // for people: "torch"
  std::string module;                 // what the worker is started with
  std::string uses;                   // the environment whose installation it shares, if another's
  std::string package;                // whose release is the framework's
  std::vector<std::string> pythons;   // "3.11"; the first that there is and that works
  std::vector<std::string> packages;  // as pip takes them, the framework's own among them
  std::vector<std::string> pins;      // of what those need
  std::vector<std::string> system_packages;
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> modes;
  std::vector<std::string> command;  // a worker of another kind, started so
  bool shared_memory = true;
  bool divides = false;  // its worker may become several, one a mode, once it has imported numpy
  std::vector<OlderReleases> older;
  std::filesystem::path file;

  std::string fingerprint() const;  // of all that is installed
};

// The file of a name; kind "environment" if there is none, "usage" if it is not right.
Result<Environment> read_environment(const std::string& name);
// Names of all files, sorted.
std::vector<std::string> environment_names();

// The environment of another release of the framework: `version` is "1.20" or "1.20.1".
Environment at_release(const Environment& base, const std::string& version);

}  // namespace assay
