import { endOverdue } from '../kernel/background/deadlines.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const EVERY = 2_000

/** Ends overdue records, whether or not Temporal is there. */
export const startDeadlines = (runtime: OpenRuntime): Part =>
  everySoOften(
    EVERY,
    () => endOverdue(runtime),
    error => runtime.log.warn({ err: error }, 'ending what is overdue failed'),
  )
