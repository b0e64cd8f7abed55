/** What about a command is dangerous, for people. */
interface Danger {
  readonly pattern: RegExp;
  readonly why: string;
}

/** The start of a command: of the text, or behind what begins another one. */
const START = String.raw`(?:^|[\n;&|(\x60{]|\$\(|\b(?:then|do|else|sudo|doas|exec|nohup|time|xargs|env)\s)\s*(?:[\w./-]*/)?`;

const starting = (rest: string, flags = "i"): RegExp => new RegExp(START + rest, flags);

const DANGERS: readonly Danger[] = [
  {
    pattern: starting(String.raw`rm\s+(?:-\S+\s+)*(?:-\w*[rR]\w*|--recursive)(?=\s|$)`),
    why: "It removes folders with everything in them.",
  },
  { pattern: starting(String.raw`find\b[^\n;|&]*\s(?:-delete\b|-exec\w*\s+rm\b)`), why: "It removes what it finds." },
  { pattern: starting(String.raw`(?:mkfs(?:\.\w+)?|fdisk|parted|wipefs|shred)\b`), why: "It erases disks or files." },
  { pattern: starting(String.raw`dd\b[^\n;|&]*\bof=`), why: "It writes over files or disks." },
  { pattern: /(?:>|\btee\s+(?:-a\s+)?)\s*\/dev\/(?:sd|nvme|hd|vd|disk|mmcblk)/i, why: "It writes to a disk itself." },
  { pattern: /(?:>|\btee\s+(?:-a\s+)?)\s*\/(?:etc|boot|usr|lib)\//i, why: "It changes files of the system." },
  {
    pattern: starting(String.raw`(?:chmod|chown|chgrp)\s+(?:\S+\s+)*(?:-\w*R\w*|--recursive)(?=\s|$)`, ""),
    why: "It changes the permissions of whole folders.",
  },
  { pattern: starting(String.raw`chmod\s+(?:-\S+\s+)*(?:0?777|a\+\w*w|o\+\w*w)\b`), why: "It lets everybody write." },
  { pattern: /\b(?:sudo|doas|pkexec)\b|(?:^|[\n;&|]\s*)su\s/i, why: "It takes the rights of another user." },
  {
    pattern: /\b(?:curl|wget)\b[^\n;]*\|\s*(?:sudo\s+)?(?:[\w./-]*\/)?(?:ba|z|da|k)?sh\b/i,
    why: "It runs what it downloads.",
  },
  {
    pattern: /\b(?:ba|z|da|k)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b/i,
    why: "It runs what it downloads.",
  },
  { pattern: /\b(?:base64|xxd|openssl)\b[^\n;]*\|\s*(?:[\w./-]*\/)?(?:ba|z|da|k)?sh\b/i, why: "It runs hidden code." },
  {
    pattern: starting(String.raw`(?:kill\s+(?:-\S+\s+)*-1\b|killall\b|pkill\b)`),
    why: "It ends processes that may belong to others.",
  },
  { pattern: starting(String.raw`(?:shutdown|reboot|halt|poweroff|init\s+[06])\b`), why: "It stops the machine." },
  {
    pattern: starting(String.raw`systemctl\s+(?:\S+\s+)*(?:stop|disable|mask|restart|kill)\b`),
    why: "It changes what runs on the machine.",
  },
  { pattern: /:\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:/, why: "It starts processes without end." },
  {
    pattern: starting(
      String.raw`git\s+(?:-\S+\s+\S+\s+)*(?:push\b[^\n;|&]*\s(?:-f\b|--force)|reset\s+(?:\S+\s+)*--hard|clean\s+-\w*f)`,
    ),
    why: "It throws away work under version control.",
  },
  { pattern: /\b(?:drop\s+(?:table|database|schema)|truncate\s+table)\b/i, why: "It removes data of a database." },
  { pattern: /\bdelete\s+from\s+\w+\s*(?:;|["']|$)/i, why: "It removes every row of a table." },
  {
    pattern: /\bcrontab\s+-r\b|(?:>|\btee\s+(?:-a\s+)?)\s*~?\S*\/\.(?:bashrc|profile|zshrc|ssh\/)/i,
    why: "It changes what runs for the user later.",
  },
  { pattern: /\.ssh\/(?:id_|authorized_keys)|\/etc\/shadow\b/i, why: "It touches keys or passwords." },
];

/**
 * Why a command is dangerous, in a sentence for the person who is asked; undefined where nothing is seen. It guards nothing: a command
 * can be written in ways that no list foresees, and every command is asked about. What is seen here is never granted for good. Pure.
 */
export function dangerousCommand(command: string): string | undefined {
  // A line that goes on is one command.
  const text = command.replaceAll(/\\\r?\n/g, " ");
  return DANGERS.find(({ pattern }) => pattern.test(text))?.why;
}
