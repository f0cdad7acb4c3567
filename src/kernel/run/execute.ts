import { type Call, isWrite, type Outcome } from '../contract/call.ts'
import type { Run } from '../contract/operation.ts'
import { runOutside } from './external-call.ts'
import { hotRun } from './group-commit.ts'
import { read, runPlain } from './plain.ts'
import type { Runtime } from './runtime.ts'

export type Execute = (call: Call) => Promise<Outcome>

/** One request, from a valid call to its outcome, whoever asks: the API, a workflow's activity, the start-up. */
export function executor(runtime: Runtime): Execute {
  const runs: Record<Run, Execute> = {
    plain: call => runPlain(runtime, call),
    hot: hotRun(runtime),
    outside: call => runOutside(runtime, call),
  }
  const runOf = (call: Call): Run => call.operation.operation.run ?? 'plain'
  return call => (isWrite(call) ? runs[runOf(call)](call) : read(runtime, call))
}
