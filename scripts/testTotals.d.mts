export interface TestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}
export interface AttemptReport {
  testResults: { assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
}
export declare function totals(report: TestReport): { passed: number; failed: number };
export declare function triedAgain(report: AttemptReport): string[];
