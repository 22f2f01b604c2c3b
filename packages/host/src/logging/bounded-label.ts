// Values of a label that come from outside: the first so many stand for themselves, all others for `other`. Each value is
// a time series of its own in every Prometheus that looks here. Pure.

const other = "other";

/** The same value is always answered in the same way. */
export function boundedLabel(valuesMax: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < valuesMax) known.add(value);
    return known.has(value) ? value : other;
  };
}
