import { runHot } from './hot.ts'
import { type Call, isWrite, type Outcome } from './call.ts'
import type { House } from './house.ts'
import type { Run } from './operation.ts'
import { runOutside } from './outside.ts'
import { read, runPlain } from './plain.ts'

const runs: Record<Run, (house: House, call: Call) => Promise<Outcome>> = {
  plain: runPlain,
  hot: runHot,
  outside: runOutside,
}

const runOf = (call: Call): Run => call.operation.operation.run ?? 'plain'

/** One request, from a valid call to its outcome, whoever asks: the API, a workflow's activity, the start-up. */
export const execute = (house: House, call: Call): Promise<Outcome> =>
  isWrite(call) ? runs[runOf(call)](house, call) : read(house, call)
