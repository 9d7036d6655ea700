#include "c50/boosting.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "c50/usage.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kAccurate = 0.1;         // a trial with less weight of errors is the last one
constexpr double kInaccurate = 0.49;      // one with at least this error rate is not used
constexpr double kShift = 0.25;           // of the difference between right and wrong weight that goes to the wrong
constexpr float kLeastWeight = 0.001f;    // of a case that was classified correctly
constexpr std::size_t kManyCases = 4001;  // with more, trees are grown without the lightest cases …
constexpr double kLightest = 0.2;         // … once the lightest relative weight is at most this

// Sums of votes over all trials so far, which give the class by the ensemble.
class Ensemble {
public:
    explicit Ensemble(const Cases& cases)
        : cases_(cases), votes_(cases.n_rows() * cases.n_classes, 0.0f), totals_(cases.n_rows(), 0.0f) {}

    void add(const std::vector<Verdict>& verdicts) {
        for (std::size_t row = 0; row < verdicts.size(); ++row) {
            float& vote = votes_[row * cases_.n_classes + static_cast<std::size_t>(verdicts[row].label)];
            vote = static_cast<float>(vote + verdicts[row].confidence);
            totals_[row] = static_cast<float>(totals_[row] + verdicts[row].confidence);
        }
    }
    std::int64_t count_errors(std::int32_t default_label) const {
        std::int64_t n_errors = 0;
        for (std::size_t row = 0; row < totals_.size(); ++row) {
            const float* const votes = votes_.data() + row * cases_.n_classes;
            auto label = static_cast<std::size_t>(default_label);
            for (std::size_t c = 0; c < cases_.n_classes; ++c)
                if (votes[c] / totals_[row] > votes[label] / totals_[row]) label = c;
            n_errors += label != cases_.classes[row];
        }
        return n_errors;
    }

private:
    const Cases& cases_;
    std::vector<float> votes_;
    std::vector<float> totals_;
};

// The weights between the trials.
class Reweighting {
public:
    Reweighting(Cases& cases, std::size_t n_trials)
        : cases_(cases),
          n_trials_(n_trials),
          votes_(cases.n_rows() * cases.n_classes, 0.0f),
          leader_(cases.n_rows(), kNone),
          growing_rows_(cases.n_rows()) {
        std::iota(growing_rows_.begin(), growing_rows_.end(), 0);
        for (const float scale : cases.class_scale) lightest_ = std::min<double>(lightest_, scale);
    }
    // The cases to grow the next tree from.
    const std::vector<std::int32_t>& growing_rows() const { return growing_rows_; }
    double error_weight() const { return wrong_; }
    double error_rate() const { return wrong_ / n_left(); }

    // Counts the errors of a trial, and drops cases that the remaining trials cannot win any more.
    void evaluate(const std::vector<Verdict>& verdicts, std::size_t number) {
        const bool may_drop = 2 * (number + 1) > n_trials_;
        wrong_ = right_ = 0.0;
        n_wrong_ = 0;
        kept_.clear();
        for (std::size_t row = 0; row < cases_.n_rows(); ++row) {
            if (cases_.weights[row] <= 0.0f) continue;
            const auto [label, confidence] = verdicts[row];
            float* const votes = votes_.data() + row * cases_.n_classes;
            votes[label] = static_cast<float>(votes[label] + confidence);
            const auto lead = [&] { return leader_[row] == kNone ? 0.0f : votes[leader_[row]]; };
            if (votes[label] > lead()) leader_[row] = label;
            const float reachable =
                (votes[cases_.classes[row]] + static_cast<float>(n_trials_ - 1)) - static_cast<float>(number);
            if (may_drop && lead() > reachable) {
                ++n_dropped_;
                cases_.weights[row] = 0.0f;
                continue;
            }
            const bool is_wrong = static_cast<std::size_t>(label) != cases_.classes[row];
            kept_.push_back({static_cast<std::int32_t>(row), is_wrong});
            (is_wrong ? wrong_ : right_) += cases_.weights[row];
            n_wrong_ += is_wrong;
        }
    }

    // Moves weight from the right cases to the wrong ones. Divisions by 0 give infinities that no case uses.
    void update() {
        const double shift = kShift * (right_ - wrong_), scale = (right_ - shift) / right_,
                     addition = shift / static_cast<double>(n_wrong_), norm = n_left() / (right_ + wrong_);
        lightest_ *= scale * norm;
        growing_rows_.clear();
        const bool skips_light = cases_.n_rows() > kManyCases && lightest_ <= kLightest;
        for (const auto [row, is_wrong] : kept_) {
            float& weight = cases_.weights[static_cast<std::size_t>(row)];
            if (is_wrong) {
                weight = static_cast<float>(norm * (weight + addition));
            } else {
                weight = static_cast<float>(weight * (norm * scale));
                if (weight < 0.001) weight = kLeastWeight;
            }
            if (!skips_light || weight > lightest_ + 0.001) growing_rows_.push_back(row);
        }
    }

private:
    static constexpr std::int32_t kNone = -1;
    struct Kept {
        std::int32_t row;
        bool is_wrong;
    };
    double n_left() const { return static_cast<double>(cases_.n_rows() - n_dropped_); }

    Cases& cases_;
    std::size_t n_trials_;
    std::vector<float> votes_;  // per row and class, of all trials so far
    std::vector<std::int32_t> leader_;
    std::vector<std::int32_t> growing_rows_;
    std::vector<Kept> kept_;
    std::size_t n_dropped_ = 0, n_wrong_ = 0;
    double wrong_ = 0.0, right_ = 0.0;  // weight of the cases classified so by the last trial
    double lightest_ = 1.0;             // relative weight of a case that was always right
};

}  // namespace

void build_trials(Cases& cases, const Options& options, TrialBuilder& builder, Model& model,
                  std::atomic<std::size_t>* n_done) {
    std::vector<std::int32_t> all_rows(cases.n_rows());
    std::iota(all_rows.begin(), all_rows.end(), 0);
    const std::vector<float> first_weights = cases.weights;
    std::optional<Reweighting> reweighting;
    std::optional<Ensemble> ensemble;
    std::optional<UsageOfTrials> usage;
    std::vector<double> first_usage;
    std::size_t n_planned = options.n_trials;
    for (std::size_t t = 0; t < n_planned; ++t) {
        Trial trial = builder.build(t == 0 ? all_rows : reweighting->growing_rows());
        if (n_done) ++*n_done;
        const bool is_last = t + 1 == n_planned;
        if (t == 0 && !is_last) {
            if (cases.weights.empty()) cases.weights.assign(cases.n_rows(), 1.0f);
            reweighting.emplace(cases, options.n_trials);
            ensemble.emplace(cases);
        }
        bool is_used = true;
        if (!is_last) {
            reweighting->evaluate(trial.verdicts, t);
            if (options.early_stopping && reweighting->error_weight() < kAccurate) {
                model.stop = Stop::accurate;
                n_planned = t + 1;
            } else if (options.early_stopping &&
                       ((t > 0 && trial.is_trivial(options.rules)) || reweighting->error_rate() >= kInaccurate)) {
                model.stop = Stop::inaccurate;
                n_planned = std::max<std::size_t>(t, 1);
                is_used = t == 0;
            } else {
                reweighting->update();
            }
        }
        if (!is_used) break;
        if (ensemble) ensemble->add(trial.verdicts);
        if (options.summary) {
            if (t == 0) first_usage = usage_of_trial(cases, trial, options.rules, first_weights);
            if (options.n_trials > 1) {
                if (!usage) usage.emplace(cases);
                usage->add(cases, trial, options.rules);
            }
        }
        for (FormedRule& rule : trial.classifier.rules) rule.covered = RowSet{};
        model.trials.push_back(std::move(trial.classifier));
    }
    if (options.early_stopping && options.n_trials > 1 && n_planned <= 2) {
        model.is_abandoned = true;
        model.trials.resize(1);
    }
    const bool is_single = model.trials.size() == 1;
    const Classifier& first = model.trials.front();
    model.n_errors = is_single ? first.n_errors : ensemble->count_errors(first.default_label);
    if (options.summary) model.usage = is_single ? first_usage : usage->weights(first_weights);
}

}  // namespace clausewise::c50
