/**
 * Characters that turn the direction of what follows or break a line unseen, for the class of a regular expression. In a text of
 * somebody else's they make what is shown differ from what is there.
 */
export const DIRECTION_MARKS = "\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069";
