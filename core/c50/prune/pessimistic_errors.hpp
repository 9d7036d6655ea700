// The error bound by which C5.0 prunes.
#pragma once

#include <cmath>

namespace clausewise::c50 {

// The number of errors to expect beyond the `errors` seen among `n` cases, at the confidence level `cf`. Operations are
// in exactly the precision that C5.0's behaviour is defined in.
class PessimisticErrors {
public:
    explicit PessimisticErrors(float cf);
    float operator()(float n, float errors) const;

private:
    float without_errors(float n) const { return static_cast<float>(n * (1.0 - std::exp(log_cf_ / n))); }
    float with_errors(float n, float errors) const;

    float k_;
    double log_cf_;
};

}  // namespace clausewise::c50
