import { endOverdue } from '../kernel/background/deadlines.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const EVERY = 2_000

/** Ends what is overdue, with Temporal or without it. */
export const startDeadlines = (runtime: OpenRuntime): Part =>
  everySoOften(
    EVERY,
    () => endOverdue(runtime),
    error => runtime.log.warn({ err: error }, 'ending what is overdue failed'),
  )
