/**
 * A text of somebody else's as a terminal may be given it: lines and tabs stay, characters that steer a terminal or turn the direction
 * of what follows become `?`. What an agent asks to run must read as what would run.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
}
