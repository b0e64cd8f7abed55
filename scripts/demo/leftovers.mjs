import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { execFileSync } from "node:child_process";

/**
 * Finds processes that have to do with a directory: by command line, environment or working directory.
 * @param {string} directory
 * @returns {{ pid: number, command: string }[]} without this process
 */
export function processesOf(directory) {
  if (process.platform !== "linux") return processesByPs(directory);
  return readdirSync("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    const facts = [command, read(`/proc/${pid}/environ`), link(`/proc/${pid}/cwd`)];
    return facts.some((fact) => fact.includes(directory)) ? [{ pid, command }] : [];
  });
}

function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function link(path) {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function processesByPs(directory) {
  const lines = execFileSync("ps", ["-A", "-E", "-o", "pid=,command="], { encoding: "utf8" }).split("\n");
  return lines
    .filter((line) => line.includes(directory))
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim() }))
    .filter(({ pid }) => pid !== process.pid);
}
