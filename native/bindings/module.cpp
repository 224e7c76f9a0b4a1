#include <nanobind/nanobind.h>

namespace rankwright::bindings {
void bind_bayesian_lists(nanobind::module_& m);
void bind_binning(nanobind::module_& m);
void bind_contributions(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_examination_em(nanobind::module_& m);
void bind_growth(nanobind::module_& m);
void bind_hashing(nanobind::module_& m);
void bind_json_matrix(nanobind::module_& m);
void bind_lambdas(nanobind::module_& m);
void bind_letor(nanobind::module_& m);
void bind_margin(nanobind::module_& m);
void bind_metrics(nanobind::module_& m);
void bind_network(nanobind::module_& m);
void bind_network_training(nanobind::module_& m);
void bind_pair_rounds(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_partitions(nanobind::module_& m);
void bind_postings(nanobind::module_& m);
void bind_postings_merge(nanobind::module_& m);
void bind_query_features(nanobind::module_& m);
void bind_ranking(nanobind::module_& m);
void bind_nearest(nanobind::module_& m);
void bind_retrieval(nanobind::module_& m);
void bind_sampling(nanobind::module_& m);
void bind_simd(nanobind::module_& m);
void bind_calibration_losses(nanobind::module_& m);
void bind_sorted_texts(nanobind::module_& m);
void bind_sweep(nanobind::module_& m);
void bind_text_features(nanobind::module_& m);
void bind_tree_scorer(nanobind::module_& m);
void bind_votes(nanobind::module_& m);
void bind_words(nanobind::module_& m);
}  // namespace rankwright::bindings

NB_MODULE(_native, m) {
    m.doc() = "The C++ core of rankwright. Arguments are checked here; results are new arrays.";
    // An object that is alive when the process ends is not an error: another library may hold it. Tests of the
    // bindings turn the report on.
    nanobind::set_leak_warnings(false);
    m.def("set_leak_warnings", &nanobind::set_leak_warnings, nanobind::arg("on"));
    rankwright::bindings::bind_bayesian_lists(m);
    rankwright::bindings::bind_binning(m);
    rankwright::bindings::bind_contributions(m);
    rankwright::bindings::bind_csv(m);
    rankwright::bindings::bind_examination_em(m);
    rankwright::bindings::bind_growth(m);
    rankwright::bindings::bind_partitions(m);
    rankwright::bindings::bind_hashing(m);
    rankwright::bindings::bind_json_matrix(m);
    rankwright::bindings::bind_lambdas(m);
    rankwright::bindings::bind_letor(m);
    rankwright::bindings::bind_margin(m);
    rankwright::bindings::bind_metrics(m);
    rankwright::bindings::bind_network(m);
    rankwright::bindings::bind_network_training(m);
    rankwright::bindings::bind_pair_rounds(m);
    rankwright::bindings::bind_pairs(m);
    rankwright::bindings::bind_postings(m);
    rankwright::bindings::bind_postings_merge(m);
    rankwright::bindings::bind_query_features(m);
    rankwright::bindings::bind_ranking(m);
    rankwright::bindings::bind_nearest(m);
    rankwright::bindings::bind_retrieval(m);
    rankwright::bindings::bind_sampling(m);
    rankwright::bindings::bind_simd(m);
    rankwright::bindings::bind_calibration_losses(m);
    rankwright::bindings::bind_sorted_texts(m);
    rankwright::bindings::bind_sweep(m);
    rankwright::bindings::bind_text_features(m);
    rankwright::bindings::bind_tree_scorer(m);
    rankwright::bindings::bind_votes(m);
    rankwright::bindings::bind_words(m);
}
