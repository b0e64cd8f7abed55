/**
 * Variable whose presence says that a process, and what it starts, is meant to go on after its turn. Its name keeps it in the environment of
 * commands, as the launch's mark.
 */
export const BACKGROUND_MARK = "_TALARIA_BACKGROUND";
