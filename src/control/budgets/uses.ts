import type { Counter, Reservation } from './counters.ts'

type UseState = 'none' | 'reserved' | 'made'

/** A reservation is one use, however often it is captured. It is only reserved until something is spent. */
export const useStateOf = ({ reserved, spent }: Pick<Reservation, 'reserved' | 'spent'>): UseState => {
  if (spent > 0n) return 'made'
  return reserved > 0n ? 'reserved' : 'none'
}

/** The numbers never fall below zero: after a term has begun anew, no earlier use is there to take back. */
export function countUses(counter: Counter, before: UseState, after: UseState): void {
  const change = (state: UseState): number => Number(after === state) - Number(before === state)
  counter.reservedUses = Math.max(counter.reservedUses + change('reserved'), 0)
  counter.uses = Math.max(counter.uses + change('made'), 0)
}

/** The term of amounts that are no use: no agent has it. */
export const NO_TERM = new Date(0)

/** A mandate counts its uses for as long as it stands, whatever policy its agent has meanwhile. */
export const termOf = (subject: string, term: Date | null): Date | null =>
  subject.startsWith('mandate_') && !isInTerm({ term: NO_TERM }, term) ? null : term

export const isInTerm = ({ term }: Pick<Counter, 'term'>, other: Date | null): boolean =>
  term?.getTime() === other?.getTime()
