#include "kempe/recording.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "simulation/energy_watch.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

constexpr const char* kFirstLine = "kempe recording 2";
constexpr const char* kFirstLineOfFormat1 = "kempe recording 1";
constexpr std::string_view kArchive = "PK\x03\x04";  // how zip files begin, and those of numpy

/// All numbers of a sample that format 1 has too, in the order of the file.
template <typename Sample, typename Visit>
void visitNumbers(Sample& sample, const Visit& visit) {
  visit(sample.time);
  for (auto* vector : {&sample.q, &sample.v, &sample.tau, &sample.velocities}) {
    for (Eigen::Index i = 0; i < vector->size(); ++i) {
      visit((*vector)[i]);
    }
  }
  for (auto* number : {&sample.kinetic, &sample.potential, &sample.loopError,
                       &sample.work.controller, &sample.work.external, &sample.work.motors,
                       &sample.work.damping, &sample.work.friction, &sample.work.limits}) {
    visit(*number);
  }
}

template <typename Control, typename Visit>
void visitControl(Control& control, const Visit& visit) {
  for (auto* number : {&control.nextStep, &control.previousStep, &control.previousError,
                       &control.evaluations, &control.seconds, &control.evaluationsBefore}) {
    visit(*number);
  }
}

constexpr double kMostCount = 1e9;  // of hints and patience
constexpr double kMostSamples = 1e10;

void writeNumber(std::string& line, double x) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
  if (!line.empty()) {
    line += ' ';
  }
  line.append(digits.data(), end);
}

/// A text on one line: \\ and \n stand for a backslash and a line break.
std::string onOneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    line += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
  }
  return line;
}
std::string fromOneLine(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char next = line[i] == '\\' && i + 1 < line.size() ? line[i + 1] : '\0';
    const bool escaped = next == '\\' || next == 'n';  // not so in files of earlier versions
    text += !escaped ? line[i] : next == 'n' ? '\n' : '\\';
    i += escaped ? 1 : 0;
  }
  return text;
}

/// Reads a file line by line and says where it is wrong.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path), file_(path) {
    if (!file_) {
      throw std::runtime_error(path.string() + ": cannot be opened");
    }
  }

  bool next() {
    ++number_;
    return static_cast<bool>(std::getline(file_, line_));
  }
  [[nodiscard]] const std::string& line() const { return line_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(path_.string() + ":" + std::to_string(number_) + ": " + why);
  }

  /// The next number of the line.
  double number(const char*& at) const {
    const char* end = line_.data() + line_.size();
    while (at < end && *at == ' ') {
      ++at;
    }
    double value = 0.0;
    const auto result = std::from_chars(at, end, value);
    if (result.ec != std::errc{}) {
      fail("a number is missing or malformed");
    }
    at = result.ptr;
    return value;
  }
  [[nodiscard]] bool isEnd(const char* at) const { return at == line_.data() + line_.size(); }
  /// Nothing may follow.
  void requireEnd(const char* at) const {
    if (!isEnd(at)) {
      fail("more numbers than expected");
    }
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  std::string line_;
  int number_ = 0;
};

void readSample(const Lines& lines, int format, const Recording& recording,
                Recording::Sample& sample) {
  const char* at = lines.line().data();
  sample.q.resize(static_cast<Eigen::Index>(recording.qNames.size()));
  sample.v.resize(static_cast<Eigen::Index>(recording.vNames.size()));
  sample.tau.resize(sample.v.size());
  sample.velocities.resize(static_cast<Eigen::Index>(recording.velocityNames.size()));
  visitNumbers(sample, [&](double& x) { x = lines.number(at); });
  const double choice = lines.number(at);
  if (!(choice >= 0.0) || !(choice < static_cast<double>(recording.choices.size()))) {
    lines.fail("choice " + shortNumber(choice) + " is not one of the " +
               std::to_string(recording.choices.size()) + " that the file has");
  }
  sample.choice = static_cast<int>(choice);
  if (format == 1) {
    sample.stepControl.nextStep = lines.number(at);
    sample.stepControl.previousError = lines.number(at);
    sample.a.resize(sample.v.size());
    sample.a.setConstant(std::numeric_limits<double>::quiet_NaN());
    lines.requireEnd(at);
    return;
  }
  visitControl(sample.stepControl, [&](double& x) { x = lines.number(at); });
  const auto whole = [&](const char* name, double most) {
    const double value = lines.number(at);
    if (!(value >= 0.0 && value <= most)) {
      lines.fail(std::string(name) + " " + shortNumber(value) + " is not from 0 to " +
                 shortNumber(most));
    }
    return static_cast<int>(value);
  };
  sample.stepControl.inUse =
      static_cast<Integrator>(whole("integrator", static_cast<int>(Integrator::Auto)));
  sample.stepControl.hints = whole("hints", kMostCount);
  sample.stepControl.patience = whole("patience", kMostCount);
  sample.a.resize(sample.v.size());
  for (double& x : sample.a) {
    x = lines.number(at);
  }
  if (lines.isEnd(at)) {
    return;  // written before forces were recorded
  }
  sample.forces.resize(sample.velocities.size());
  sample.wrenches.resize(6 * whole("wrenches", static_cast<double>(sample.velocities.size())));
  for (Vector* list : {&sample.forces, &sample.wrenches}) {
    for (double& x : *list) {
      x = lines.number(at);
    }
  }
  lines.requireEnd(at);
}

}  // namespace

std::string_view toString(Integrator integrator) {
  switch (integrator) {
    case Integrator::SemiImplicitEuler:
      return "semi_implicit_euler";
    case Integrator::RungeKutta4:
      return "rk4";
    case Integrator::ImplicitMidpoint:
      return "implicit_midpoint";
    case Integrator::Adaptive:
      return "adaptive";
    case Integrator::Radau:
      return "radau";
    case Integrator::Auto:
      return "auto";
  }
  return "";
}

Integrator integratorCalled(std::string_view name) {
  std::vector<std::string> names;
  for (const Integrator one :
       {Integrator::RungeKutta4, Integrator::SemiImplicitEuler, Integrator::ImplicitMidpoint,
        Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
    if (toString(one) == name) {
      return one;
    }
    names.emplace_back(toString(one));
  }
  throw std::invalid_argument("integrator: " + kempe::quoted(name) +
                              " is not known. Choose one of " + joined(names) + ".");
}

Snapshot Recording::snapshot(std::size_t i) const {
  if (i >= samples.size()) {
    throw std::invalid_argument("sample " + std::to_string(i) + ": the recording has " +
                                std::to_string(samples.size()));
  }
  const Sample& sample = samples[i];
  return {sample.time,
          sample.q,
          sample.velocities,
          choices.at(static_cast<std::size_t>(sample.choice)),
          sample.work,
          sample.stepControl,
          model};
}

double Recording::energyDrift() const {
  detail::EnergyWatch watch;
  for (const Sample& sample : samples) {
    watch.add({sample.time, sample.kinetic, sample.potential, sample.work.supplied(),
               sample.work.lost()});
  }
  const double exchanged = std::max(watch.exchanged(), energyExchanged);
  return exchanged > 0.0 ? watch.largestError() / exchanged : watch.largestError();
}

void Recording::save(const std::filesystem::path& path) const {
  errno = 0;
  std::ofstream file(path);
  const auto list = [&](const char* word, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      file << word << ' ' << onOneLine(name) << '\n';
    }
  };
  std::string number;
  writeNumber(number, dt);
  file << kFirstLine << "\nrobot " << onOneLine(robot) << "\nintegrator " << toString(integrator)
       << "\ndt " << number << '\n';
  if (model != 0) {
    file << "model " << model << '\n';
  }
  list("position", qNames);
  list("coordinate", vNames);
  list("velocity", velocityNames);
  for (const std::vector<std::string>& choice : choices) {
    file << "choice\n";
    list("independent", choice);
  }
  list("warning", warnings);
  if (energyExchanged > 0.0) {
    number.clear();
    writeNumber(number, energyExchanged);
    file << "exchanged " << number << '\n';
  }
  file << "samples " << samples.size() << '\n';
  std::string line;
  for (const Sample& sample : samples) {
    line.clear();
    visitNumbers(sample, [&](double x) { writeNumber(line, x); });
    writeNumber(line, sample.choice);
    visitControl(sample.stepControl, [&](double x) { writeNumber(line, x); });
    writeNumber(line, static_cast<int>(sample.stepControl.inUse));
    writeNumber(line, sample.stepControl.hints);
    writeNumber(line, sample.stepControl.patience);
    for (const double x : sample.a) {
      writeNumber(line, x);
    }
    if (sample.forces.size() > 0) {
      const auto bodies = sample.wrenches.size() / 6;
      writeNumber(line, static_cast<double>(bodies));
      for (const Vector* part : {&sample.forces, &sample.wrenches}) {
        for (const double x : *part) {
          writeNumber(line, x);
        }
      }
    }
    file << line << '\n';
  }
  file.flush();
  if (!file) {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            path.string() + ": cannot be written");
  }
}

Recording Recording::load(const std::filesystem::path& path) {
  Lines lines(path);
  Recording recording;
  const bool any = lines.next();
  if (lines.line().starts_with(kArchive)) {
    throw std::runtime_error(path.string() +
                             ": an archive of numpy, which Python reads. Convert it there: "
                             "kempe.Run.load(\"run.npz\").save(\"run.recording\")");
  }
  const int format = any && lines.line() == kFirstLineOfFormat1 ? 1 : 2;
  if (!any || (format == 2 && lines.line() != kFirstLine)) {
    lines.fail(std::string("not a recording of this version; its first line would be \"") +
               kFirstLine + "\"");
  }
  std::size_t count = 0;
  for (bool described = false; !described;) {
    if (!lines.next()) {
      lines.fail("the file ends before its samples");
    }
    const std::string& line = lines.line();
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest =
        space == std::string::npos ? std::string() : fromOneLine(line.substr(space + 1));
    const char* at = line.data() + std::min(line.size(), word.size());
    if (word == "robot") {
      recording.robot = rest;
    } else if (word == "integrator") {
      try {
        recording.integrator = integratorCalled(rest);
      } catch (const std::invalid_argument& error) {
        lines.fail(error.what());
      }
    } else if (word == "dt") {
      recording.dt = lines.number(at);
    } else if (word == "model") {
      const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), recording.model);
      if (read.ec != std::errc{} || read.ptr != rest.data() + rest.size()) {
        lines.fail("the fingerprint of the model is malformed");
      }
    } else if (word == "position") {
      recording.qNames.push_back(rest);
    } else if (word == "coordinate") {
      recording.vNames.push_back(rest);
    } else if (word == "velocity") {
      recording.velocityNames.push_back(rest);
    } else if (word == "choice") {
      recording.choices.emplace_back();
    } else if (word == "independent" && !recording.choices.empty()) {
      recording.choices.back().push_back(rest);
    } else if (word == "exchanged") {
      recording.energyExchanged = lines.number(at);
    } else if (word == "warning") {
      recording.warnings.push_back(rest);
    } else if (word == "samples") {
      const double given = lines.number(at);
      if (!(given >= 1.0)) {
        lines.fail("at least one sample is needed, got " + shortNumber(given));
      }
      if (!(given < kMostSamples)) {
        lines.fail("at most " + shortNumber(kMostSamples) + " samples are possible, got " +
                   shortNumber(given));
      }
      count = static_cast<std::size_t>(given);
      described = true;
    } else {
      lines.fail(kempe::quoted(word) + " is not expected here");
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!lines.next()) {
      lines.fail("the file ends after " + std::to_string(i) + " of " + std::to_string(count) +
                 " samples");
    }
    readSample(lines, format, recording, recording.samples.emplace_back());
    if (i > 0 && !(recording.samples[i].time > recording.samples[i - 1].time)) {
      lines.fail("times must increase from sample to sample");
    }
  }
  return recording;
}

}  // namespace kempe
