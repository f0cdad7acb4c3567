import { endOverdue } from '../kernel/background/deadlines.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenHouse, Part } from './runtime.ts'

const EVERY = 2_000

/** Ends what is overdue, with Temporal or without it. */
export const startDeadlines = (house: OpenHouse): Part =>
  everySoOften(
    EVERY,
    () => endOverdue(house),
    error => house.log.warn({ err: error }, 'ending what is overdue failed'),
  )
