import type { Call, Outcome } from '../contract/call.ts'
import { isWriting, type Run } from '../contract/operation.ts'
import { headOfOutside, outsideRun } from './external-call.ts'
import { hotRun } from './group-commit.ts'
import { headOfPlain, read, runPlain } from './plain.ts'
import type { Runtime } from './runtime.ts'
import { inTurns } from './turns.ts'

export type Execute = (call: Call) => Promise<Outcome>

/** Runs a valid call to its outcome: for the API, the activities of workflows and the start-up alike. */
export function executor(runtime: Runtime): Execute {
  const together = hotRun(runtime)
  const executeByRun: Record<Run, Execute> = {
    plain: call => runPlain(runtime, call),
    // No hot operation leads to a call.
    hot: call => together(call) as Promise<Outcome>,
    outside: outsideRun(runtime, together),
  }
  const runOf = (call: Call): Run => call.operation.operation.run ?? 'plain'
  const isWrite = ({ operation }: Call): boolean => isWriting(operation.operation)
  return inTurns(runtime.database, async call => {
    if (!isWrite(call)) return read(runtime, call)
    if (!call.isHead) return executeByRun[runOf(call)](call)
    return runOf(call) === 'outside' ? headOfOutside(runtime, call) : headOfPlain(runtime, call)
  })
}
