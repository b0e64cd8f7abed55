import { status } from "@grpc/grpc-js";
import { reasonEntry, reasons, type Reason } from "./reasons.js";

/** Path of the protobuf file that {@link renderReasonsProto} writes, from the root of the repository. */
export const REASONS_PROTO_PATH = "proto/talaria/reason/v1/reason.proto";

/** Path of the page that {@link renderReasonsPage} writes, from the root of the repository. */
export const REASONS_PAGE_PATH = "docs/errors.md";

/** Renders the registry as a protobuf file with one enum, in the format of buf. */
export function renderReasonsProto(): string {
  const values = byNumber().map((reason) => {
    const { code, retryable, message, hint, number } = reasonEntry(reason);
    const facts = `${code}${retryable ? ", may be tried again" : ""}`;
    return `  // ${message} ${hint} (${facts})\n  REASON_${reason} = ${String(number)};\n`;
  });
  return [
    "// Generated from the reason registry. Do not edit: change the registry and run scripts/generateReasons.ts.",
    "",
    'syntax = "proto3";',
    "",
    "package talaria.reason.v1;",
    "",
    "// Why a call was refused, a turn ended or a delivery failed. The name without its prefix is the `reason` of",
    '// `google.rpc.ErrorInfo` with the domain "talaria". Numbers are never changed or used again.',
    "enum Reason {",
    "  // Not given, or one of a later version.",
    "  REASON_UNSPECIFIED = 0;",
    values.join("").trimEnd(),
    "}",
    "",
  ].join("\n");
}

/** Renders the registry as a page for people. */
export function renderReasonsPage(): string {
  const sections = byNumber().map((reason) => {
    const { code, retryable, message, hint, number } = reasonEntry(reason);
    const facts = `Number ${String(number)}, ${code} (${String(status[code])})${retryable ? ", may be tried again" : ""}.`;
    return `## ${reason}\n\n${escapeText(message)} ${escapeText(hint)}\n\n${facts}\n`;
  });
  return [
    "<!-- Generated from the reason registry. Do not edit: change the registry and run scripts/generateReasons.ts. -->",
    "",
    "# Errors",
    "",
    "Every refused call carries a `google.rpc.Status` in its details, with an `ErrorInfo` whose domain is `talaria` and whose",
    "`reason` is one of the names below; the hint travels in its metadata. Field violations come as `BadRequest`, a wait before",
    "the next attempt as `RetryInfo`. Outcomes of turns and deliveries use the same names, as values of",
    "`talaria.reason.v1.Reason`. An `INTERNAL` error carries an incident id, which is in the gateway's log with what led to it.",
    "",
    '"May be tried again" means that the same request may succeed later without anybody changing anything.',
    "",
    ...sections,
  ].join("\n");
}

function byNumber(): readonly Reason[] {
  return (Object.keys(reasons) as Reason[]).sort((a, b) => reasonEntry(a).number - reasonEntry(b).number);
}

function escapeText(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
