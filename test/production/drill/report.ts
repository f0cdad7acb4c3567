import { printLine } from '../../../src/platform/output.ts'

/** What the drill measured and found. */
export interface Report {
  readonly hasFailed: boolean
  tell(line: string): void
  timed<T>(step: string, work: () => Promise<T>): Promise<T>
  note(step: string, figure: string): void
  check(claim: string, holds: boolean, found?: unknown): void
  print(): void
}

const secondsSince = (began: number): string => ((performance.now() - began) / 1_000).toFixed(1)

export function openReport(): Report {
  const figures: (readonly [step: string, figure: string])[] = []
  const failures: string[] = []
  let checks = 0
  return {
    get hasFailed() {
      return failures.length > 0
    },
    tell: printLine,
    async timed(step, work) {
      const began = performance.now()
      const result = await work()
      figures.push([step, `${secondsSince(began)} s`])
      printLine(`  ${step}: ${secondsSince(began)} s`)
      return result
    },
    note(step, figure) {
      figures.push([step, figure])
      printLine(`  ${step}: ${figure}`)
    },
    check(claim, holds, found) {
      checks++
      printLine(`  ${holds ? 'yes' : 'NO '}  ${claim}`)
      if (!holds) failures.push(found === undefined ? claim : `${claim}: ${JSON.stringify(found)}`)
    },
    print() {
      const rows = figures.map(([step, figure]) => `| ${step} | ${figure} |`)
      printLine(['', '| step | measured |', '|---|--:|', ...rows, ''].join('\n'))
      for (const failure of failures) printLine(`Failed: ${failure}`)
      printLine(`${checks - failures.length} of ${checks} checks passed.`)
    },
  }
}
