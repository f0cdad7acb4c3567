import { setImmediate as nextTurn } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'

/** A long computation that pauses at each `yield`, so that other requests are served in between. */
export type SlicedWork<T> = Generator<void, T, void>

/** Well below 50 ms, the longest that a request may block the event loop. */
const SLICE_MS = 8

export async function runInSlices<T>(work: SlicedWork<T>): Promise<T> {
  for (;;) {
    const end = clock.ticks() + SLICE_MS
    while (clock.ticks() < end) {
      const step = work.next()
      if (step.done) return step.value
    }
    await nextTurn()
  }
}

/** Runs the work without a pause: for programs that serve no requests. */
export function runAtOnce<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
