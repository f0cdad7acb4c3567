import { type Call, isWrite, type Outcome } from '../contract/call.ts'
import type { Run } from '../contract/operation.ts'
import { runOutside } from './external-call.ts'
import { hotRun } from './group-commit.ts'
import { read, runPlain } from './plain.ts'
import type { Runtime } from './runtime.ts'

export type Execute = (call: Call) => Promise<Outcome>

/** Runs a valid call to its outcome: for the API, the activities of workflows and the start-up alike. */
export function executor(runtime: Runtime): Execute {
  const executeByRun: Record<Run, Execute> = {
    plain: call => runPlain(runtime, call),
    hot: hotRun(runtime),
    outside: call => runOutside(runtime, call),
  }
  const runOf = (call: Call): Run => call.operation.operation.run ?? 'plain'
  return call => (isWrite(call) ? executeByRun[runOf(call)](call) : read(runtime, call))
}
