const began = performance.now();

/** @returns {string} seconds since the demo began, for the margin */
function margin() {
  return `${((performance.now() - began) / 1000).toFixed(2).padStart(6)} s`;
}

/** Prints one line of the transcript with its time. @param {string} text */
export function say(text) {
  console.log(`${margin()}  ${text}`);
}

/** Begins a scene. @param {string} title */
export function scene(title) {
  console.log(`\n${margin()}  == ${title}`);
}

/** @returns {number} seconds since the demo began */
export function elapsedSeconds() {
  return (performance.now() - began) / 1000;
}

/**
 * Waits for a promise for a limited time.
 * @template T
 * @param {string} what for the error
 * @param {Promise<T>} promise
 * @param {number} [limitMs]
 * @returns {Promise<T>}
 */
export async function within(what, promise, limitMs = 15_000) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
