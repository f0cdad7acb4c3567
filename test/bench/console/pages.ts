import { printLine } from '../../../src/platform/output.ts'
import { type Case, measure, type Result } from '../case.ts'
import { ratio, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { type ApiCall, callsOf } from './page-calls.ts'

const CONNECTIONS = usualOrShort(8, 4)
const SECONDS = usualOrShort(3, 0.3)

export interface PageCost {
  readonly path: string
  readonly page: Result
  readonly calls: number
  readonly callsMicroseconds: number
}

const costOf = ({ cpuMicroseconds, databaseMicroseconds }: Result): number =>
  cpuMicroseconds + databaseMicroseconds

/** Measures a person's requests by cookie; a call of several pages is measured once. */
function meter(stage: Stage, cookie: string) {
  const known = new Map<string, Promise<Result>>()
  const load = (call: ApiCall): Promise<Result> => {
    const { method, path } = call
    const name = JSON.stringify(call)
    if (known.has(name)) return known.get(name) as Promise<Result>
    const request = { method, path, ...(call.body && { body: call.body }), token: '', cookie }
    const one: Case = { name: path, title: path, server: stage.api, request: () => request }
    // The second round counts: in the first one the processor compiles code.
    const result = measure(stage, one, CONNECTIONS, SECONDS).then(() =>
      measure(stage, one, CONNECTIONS, SECONDS),
    )
    known.set(name, result)
    return result
  }
  return load
}

/** Measures each page, and in turns every call that it makes. */
export async function pageCosts(stage: Stage, cookie: string, paths: readonly string[]): Promise<PageCost[]> {
  const load = meter(stage, cookie)
  const costs: PageCost[] = []
  for (const path of paths) {
    const calls = await callsOf(path, stage, cookie)
    const page = await load({ method: 'GET', path: `/${path}` })
    let callsMicroseconds = 0
    for (const call of calls) callsMicroseconds += costOf(await load(call))
    costs.push({ path, page, calls: calls.length, callsMicroseconds })
    printLine(`  ${path}: ${ratio(callsMicroseconds, costOf(page))}`)
  }
  return costs
}

export const pageTable = (costs: readonly PageCost[]): string[] => [
  `a page beside the calls of the API that it makes, by processor time of service and PostgreSQL, at ${CONNECTIONS} connections`,
  tableLine(['page', 'calls', 'page µs', 'calls µs', 'calls / page', 'p50 ms']),
  ...costs.map(({ path, page, calls, callsMicroseconds }) =>
    tableLine([
      path,
      String(calls),
      wholeNumber(costOf(page)),
      wholeNumber(callsMicroseconds),
      ratio(callsMicroseconds, costOf(page)),
      page.p50.toFixed(1),
    ]),
  ),
]
