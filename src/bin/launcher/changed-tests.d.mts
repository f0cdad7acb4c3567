export interface ChangedTests {
  readonly tests: readonly string[]
  readonly nouns: readonly string[]
  readonly untested: readonly string[]
}

export function changedFiles(): { readonly changed: readonly string[]; readonly files: readonly string[] }
export function testsOf(changed: readonly string[], files: readonly string[]): ChangedTests
