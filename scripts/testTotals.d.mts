export interface TestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}
export declare function totals(report: TestReport): { passed: number; failed: number };
