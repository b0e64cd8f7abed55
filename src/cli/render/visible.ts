/**
 * A text of somebody else's on one line, without characters that steer a terminal or turn the direction of what follows.
 */
export function visible(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ");
}
