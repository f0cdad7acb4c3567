import { type Call, isWrite, type Outcome } from '../contract/call.ts'
import type { Run } from '../contract/operation.ts'
import { runOutside } from './external-call.ts'
import { hotRun } from './group-commit.ts'
import { read, runPlain } from './plain.ts'
import type { House } from './runtime.ts'

export type Execute = (call: Call) => Promise<Outcome>

/** One request, from a valid call to its outcome, whoever asks: the API, a workflow's activity, the start-up. */
export function executor(house: House): Execute {
  const runs: Record<Run, Execute> = {
    plain: call => runPlain(house, call),
    hot: hotRun(house),
    outside: call => runOutside(house, call),
  }
  const runOf = (call: Call): Run => call.operation.operation.run ?? 'plain'
  return call => (isWrite(call) ? runs[runOf(call)](call) : read(house, call))
}
