import type { Ports } from '../../kernel/contract/ports.ts'

/** The refusal of an event name that there is not, in this member of the request. */
export const unknownEvent = (member: string) =>
  [400, `${member}: There is no event of this name. GET /events/types lists them.`] as const

type Catalogue = Pick<Ports, 'eventNames'>

/** Why a subscription cannot name these events; undefined where it can. */
export function misnamed(member: string, asked: readonly string[], ports: Catalogue): string | undefined {
  const unknown = unknownEvents(asked, ['*', ...ports.eventNames()])
  return unknown && `${member}: ${unknown}`
}

/** Why this is not the name of one event; undefined where it is, or where none is given. */
export function misnamedOne(member: string, asked: string | undefined, ports: Catalogue): string | undefined {
  const unknown = asked === undefined ? undefined : unknownEvents([asked], ports.eventNames())
  return unknown && `${member}: ${unknown}`
}

/** The names of these that are no events, each with those that were perhaps meant. */
export function unknownEvents(asked: readonly string[], known: readonly string[]): string | undefined {
  const there = new Set(known)
  const unknown = asked.filter(name => !there.has(name))
  if (unknown.length === 0) return undefined
  const sentences = unknown.slice(0, 3).map(name => {
    const close = closeTo(name.slice(0, COMPARED), known)
    const meant = close.length > 0 ? ` Did you mean ${close.join(', ')}?` : ''
    return `There is no event ${JSON.stringify(name.slice(0, 60))}.${meant}`
  })
  return `${sentences.join(' ')} GET /events/types lists them all.`
}

const FEW = 3
/** A name that is longer is compared by its beginning: what it costs does not grow with it. */
const COMPARED = 40

/** Those of the same noun, or nearly spelled so. */
function closeTo(name: string, known: readonly string[]): string[] {
  const [noun = ''] = name.split('.')
  const far = Math.max(3, Math.floor(name.length / 3))
  const isAkin = (one: string): boolean => noun !== '' && one.startsWith(`${noun}.`)
  // One that is so much shorter or longer is further away by that alone, and need not be compared.
  return known
    .filter(one => Math.abs(one.length - name.length) <= far || isAkin(one))
    .map(one => ({ one, steps: stepsBetween(name, one) }))
    .filter(({ one, steps }) => steps <= far || isAkin(one))
    .sort((a, b) => a.steps - b.steps)
    .slice(0, FEW)
    .map(({ one }) => one)
}

/** How many letters must be put in, left out or replaced to make one of the other (Levenshtein). */
function stepsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1)
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
