"""Pieces of C: NAME_ stands for what belongs to a term of a model, MODEL_ for what belongs to the whole model."""

from __future__ import annotations

from rankwright.data.query_features import QueryFeature

HEADERS = "#include <math.h>\n#include <stddef.h>\n"
TREES = """\
  {
    int tree, split;
    for (tree = 0; tree < NAME_N_TREES; ++tree) {
      const int32_t first = NAME_splits[tree];
      split = NAME_splits[tree + 1] > first ? 0 : -1;
      while (split >= 0) {
        const int32_t at = first + split;
        const float value = features[NAME_feature[at]];
        const int goes_left = value != value ? NAME_missing_left[at] : value <= NAME_threshold[at];
        split = goes_left ? NAME_left[at] : NAME_right[at];
      }
      score += NAME_leaf[first + tree - 1 - split];
    }
  }
"""
LINEAR = """\
  {
    int place;
    double weighted = NAME_INTERCEPT;
    for (place = 0; place < NAME_N_WEIGHTS; ++place) {
      const float value = features[NAME_column[place]];
      weighted += NAME_weight[place] * (value != value ? NAME_missing[place] : (double)value);
    }
    score += weighted;
  }
"""


NETWORK = """\
static inline double NAME_score(const float *features) {
  double inputs[NAME_WIDEST], units[NAME_WIDEST];
  const double *parameter = NAME_parameters;
  int layer, place, unit;
  for (layer = 0; layer < NAME_N_LAYERS; ++layer) {
    const int n_inputs = NAME_widths[layer], n_units = NAME_widths[layer + 1];
    for (unit = 0; unit < n_units; ++unit) units[unit] = parameter[n_inputs * n_units + unit];
    for (place = 0; place < n_inputs; ++place) {
      const double known = layer > 0 ? inputs[place] : features[place];
      const double value = layer > 0 || known == known ? known : NAME_missing[place];
      for (unit = 0; unit < n_units; ++unit) units[unit] += value * *parameter++;
    }
    parameter += n_units;
    for (unit = 0; unit < n_units; ++unit)
      inputs[unit] = layer + 1 < NAME_N_LAYERS ? tanh(units[unit]) : units[unit];
  }
  return inputs[0];
}
"""
EXPECTED = """\
static inline double NAME_score(const float *features) {
  const double scores[] = {SCORES};
  double expected = START;
  int place;
LINK  return expected;
}
"""
SOFTMAX = """\
  double highest = scores[0], sum = 0.0, weighted = 0.0;
  for (place = 1; place < N_CLASSES; ++place) highest = fmax(highest, scores[place]);
  for (place = 0; place < N_CLASSES; ++place) {
    const double raised = exp(scores[place] - highest);
    sum += raised;
    weighted += NAME_steps[place] * raised;
  }
  expected += weighted / sum;
"""
LOGISTIC = """\
  for (place = 0; place < N_CLASSES; ++place) {
    const double falling = exp(-fabs(scores[place])); /* cannot overflow */
    expected += NAME_steps[place] * (scores[place] < 0.0 ? falling : 1.0) / (1.0 + falling);
  }
"""
STANDARDISE = """\
/* Replaces scores by their distance from their mean in standard deviations; by 0 if all are equal. */
static inline void MODEL_standardise(double *scores, int n) {
  double low = INFINITY, high = -INFINITY, range, sum = 0.0, squares = 0.0, mean, deviation;
  int place;
  for (place = 0; place < n; ++place) {
    low = fmin(low, scores[place]);
    high = fmax(high, scores[place]);
  }
  range = high > low ? high - low : 1.0;
  for (place = 0; place < n; ++place) sum += scores[place] = (scores[place] - low) / range;
  mean = sum / n;
  for (place = 0; place < n; ++place) squares += (scores[place] - mean) * (scores[place] - mean);
  deviation = sqrt(squares / n);
  if (!(deviation > 0.0)) deviation = 1.0;
  for (place = 0; place < n; ++place) scores[place] = (scores[place] - mean) / deviation;
}

"""
SCORES = """\
static inline void NAME_scores(const float *columns, int n_documents, double *terms, double *scores) {
  int document;
  (void)terms; /* not every model uses it */
  for (document = 0; document < n_documents; ++document)
    scores[document] = NAME_score_columns(columns + (size_t)document * MODEL_N_COLUMNS);
TERMS}

"""
TERM = """\
  TERM_scores(columns, n_documents, terms + n_documents, terms);
  MODEL_standardise(terms, n_documents);
  for (document = 0; document < n_documents; ++document) scores[document] += WEIGHT * terms[document];
"""
QUERY = """\
/* Scores one query. terms has room for MODEL_TERMS(n_documents) doubles. */
static inline void MODEL_score_query(const float *features, int n_documents, double *terms, double *scores) {
  MODEL_scores(features, n_documents, terms, scores);
}
"""
COLUMNS = """\
/* Sorts in ascending order. */
static inline void NAME_sort(float *values, int n) {
  int end, start = n / 2;
  for (end = n; end > 1;) {
    int parent, child;
    float value;
    if (start > 0) {
      value = values[--start];
    } else {
      value = values[--end];
      values[end] = values[0];
    }
    parent = start;
    while ((child = 2 * parent + 1) < end) {
      if (child + 1 < end && values[child + 1] > values[child]) ++child;
      if (values[child] <= value) break;
      values[parent] = values[child];
      parent = child;
    }
    values[parent] = value;
  }
}

/* The mean and the standard deviation (1 instead of 0) of n sorted values. */
static inline void NAME_moments(const float *known, int n, double *mean, double *deviation) {
  double sum = 0.0, squares = 0.0;
  int place;
  for (place = 0; place < n; ++place) sum += known[place];
  *mean = sum / (n > 0 ? n : 1);
  for (place = 0; place < n; ++place) squares += (known[place] - *mean) * (known[place] - *mean);
  *deviation = sqrt(squares / (n > 0 ? n : 1));
  if (!(*deviation > 0.0)) *deviation = 1.0;
}

/* The number of n sorted values that are below a value, or at most the value. */
static inline int NAME_below(const float *known, int n, float value, int or_equal) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (or_equal ? known[middle] <= value : known[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The fraction of the other values that are lower; equal ones count half. */
static inline float NAME_rank(float value, const float *known, int n) {
  const double lower = NAME_below(known, n, value, 0), highest = NAME_below(known, n, value, 1) - 1;
  return n > 1 ? (float)((lower + highest) / 2.0 / (n - 1)) : 0.5f;
}

/* Scores one query. work has room for NAME_WORK(n_documents) floatsTERMS_ROOM. */
static inline void NAME_score_query(const float *features, int n_documents, float *work,TERMS_PARAMETER
                                    double *scores) {
  float *const columns = work, *const known = work + (size_t)n_documents * NAME_N_COLUMNS;
  int feature, document;
  for (feature = 0; feature < NAME_N_FEATURES; ++feature) {
    int n = 0;
    double low, range, mean, deviation;
    for (document = 0; document < n_documents; ++document) {
      const float value = features[(size_t)document * NAME_N_FEATURES + feature];
      if (value == value) known[n++] = value;
    }
    NAME_sort(known, n);
    NAME_moments(known, n, &mean, &deviation);
    low = n > 0 ? known[0] : 0.0;
    range = n > 0 && known[n - 1] > known[0] ? (double)known[n - 1] - low : 1.0;
    (void)range; /* not every model uses all of them */
    for (document = 0; document < n_documents; ++document) {
      const float value = features[(size_t)document * NAME_N_FEATURES + feature];
      float *const column = columns + (size_t)document * NAME_N_COLUMNS + feature;
      column[0] = value;
KINDS    }
  }
  NAME_scores(columns, n_documents, TERMS_GIVEN, scores);
}
"""


# Adding 0.0 turns -0.0 into 0.0, as our core does; a missing value stays missing.
VALUES = {
    QueryFeature.ZSCORE: "(float)((value - mean) / deviation)",
    QueryFeature.RANK: "value == value ? NAME_rank(value, known, n) : value",
    QueryFeature.MINMAX: "(float)((value - low) / range + 0.0)",
}
