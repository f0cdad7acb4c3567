import { formatEuros } from '../../../values/money.ts'
import type { Slots } from '../interpreter/meaning.ts'
import type { Line } from '../lines.ts'
import { say } from '../lines.ts'
import type { Speaker } from '../speaker.ts'

/** Answers one of the things that owners ask. */
export type Answerer = (slots: Slots, speaker: Speaker) => AsyncGenerator<Line>

export const euros = (amount: number): string =>
  `${amount < 0 ? '-' : ''}${formatEuros(BigInt(Math.round(Math.abs(amount) * 100)))}`

/** How many lines a person reads. */
const FEW = 10

/** A list in words: what it is called, its lines, and that there are more. */
export function listed(
  items: readonly string[],
  { none, some }: { readonly none: string; readonly some: string },
  hasMore = false,
): Line {
  if (items.length === 0) return say(none)
  const lines = items.slice(0, FEW).map(item => `- ${item}`)
  const isCut = hasMore || items.length > FEW
  return say(`${some}\n${lines.join('\n')}${isCut ? '\n- and more' : ''}`)
}

/** `2026-11-22 09:30` */
export const minute = (at: string): string => at.slice(0, 16).replace('T', ' ')
