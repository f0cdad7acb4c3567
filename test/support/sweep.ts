import { endOverdueRecords, type SweepParts } from '../../src/kernel/background/deadlines.ts'

type Worker = Omit<SweepParts, 'rescueAfterMs' | 'onRescue'>

/**
 * Ends what is overdue as the sweep of a worker does, by hand and at once: also records with a run, which it would
 * leave to the run for 30 seconds.
 */
export const sweepAtOnce = (worker: Worker): Promise<void> =>
  endOverdueRecords({ ...worker, rescueAfterMs: 0, onRescue: () => undefined })
