/* Sums over any range of time in O(log n), from prefix sums: exact at every zoom level. */

/* Intervals that do not overlap, in order, each with a weight per cycle (1: covered). */
class Cover {
  constructor(starts, cycles, weights) {
    this.starts = starts;
    this.ends = starts.map((start, i) => start + cycles[i]);
    this.weights = weights;
    this.before = new Float64Array(starts.length + 1);
    for (let i = 0; i < starts.length; i++) {
      this.before[i + 1] = this.before[i] + cycles[i] * (weights ? weights[i] : 1);
    }
  }

  /* The number of intervals that start before a time. */
  index(time) {
    let low = 0, high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  /* The sum from the beginning to a time. */
  until(time) {
    const i = this.index(time);
    if (!i) return 0;
    const over = Math.max(0, this.ends[i - 1] - time);
    return this.before[i] - over * (this.weights ? this.weights[i - 1] : 1);
  }

  mean(from, to) {
    return (this.until(to) - this.until(from)) / (to - from);
  }

  /* The interval that holds a time, or -1. */
  at(time) {
    const i = this.index(time + 1e-9) - 1;
    return i >= 0 && time < this.ends[i] ? i : -1;
  }

  /* First and last+1 interval that a range touches. */
  within(from, to) {
    let first = this.index(from);
    if (first && this.ends[first - 1] > from) first--;
    return [first, this.index(to)];
  }
}

/* A step function as a cover of its steps. */
function coverOfSteps(times, values) {
  const cycles = times.map((time, i) => (i + 1 < times.length ? times[i + 1] - time : 0));
  return new Cover(times, cycles, values);
}
