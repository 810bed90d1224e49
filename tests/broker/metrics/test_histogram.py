from penstock.broker.metrics.histogram import LATENCY_BOUNDS_SECONDS, Histogram


def test_value_on_a_bound_is_below_it_and_buckets_are_cumulative() -> None:
    histogram = Histogram()
    for seconds in (0.00005, 0.001, 0.0011, 99.0):
        histogram.observe(seconds)
    samples = dict(histogram.samples('api="Fetch"'))
    assert samples['_bucket{api="Fetch",le="0.0001"}'] == 1
    assert samples['_bucket{api="Fetch",le="0.001"}'] == 2
    assert samples['_bucket{api="Fetch",le="0.0025"}'] == 3
    assert samples['_bucket{api="Fetch",le="10.0"}'] == 3
    assert samples['_bucket{api="Fetch",le="+Inf"}'] == samples['_count{api="Fetch"}'] == 4
    assert samples['_sum{api="Fetch"}'] == 0.00005 + 0.001 + 0.0011 + 99.0
    assert histogram.count == 4


def test_histogram_without_labels_has_only_bounds() -> None:
    names = [name for name, _ in Histogram().samples()]
    assert names[0] == f'_bucket{{le="{LATENCY_BOUNDS_SECONDS[0]}"}}'
    assert names[-3:] == ['_bucket{le="+Inf"}', "_sum", "_count"]
