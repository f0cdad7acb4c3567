import { setImmediate as nextTurn } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'

/** Work that stops at each `yield`, so that others may be served in between. */
export type Sliced<T> = Generator<void, T, void>

/** Well below the 50 ms that no request may hold the event loop for. */
const SLICE_MS = 8

/** Does the work a slice at a time: between two of them the event loop has a turn. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const end = clock.ticks() + SLICE_MS
    while (clock.ticks() < end) {
      const step = work.next()
      if (step.done) return step.value
    }
    await nextTurn()
  }
}

/** Does the work without a pause: for programs that serve nobody. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
