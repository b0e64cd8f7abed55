/** Where sums stop, as SQL: the largest whole number that is read back exactly. A row with a larger one could not be read any more. */
export const MOST_COUNTED = String(Number.MAX_SAFE_INTEGER);
