import type { RunningService } from '../../kernel/contract/ports.ts'

export const unknownEventRefusal = (member: string) =>
  [400, `${member}: there is no event of this name. GET /events/types lists them.`] as const

type Catalogue = Pick<RunningService, 'eventNames'>

export function eventNamesProblem(
  member: string,
  asked: readonly string[],
  service: Catalogue,
): string | undefined {
  const unknown = unknownNamesMessage(asked, ['*', ...service.eventNames])
  return unknown && `${member}: ${unknown}`
}

export function eventNameProblem(
  member: string,
  asked: string | undefined,
  service: Catalogue,
): string | undefined {
  const unknown = asked === undefined ? undefined : unknownNamesMessage([asked], service.eventNames)
  return unknown && `${member}: ${unknown}`
}

export function unknownNamesMessage(names: readonly string[], known: readonly string[]): string | undefined {
  const existing = new Set(known)
  const unknown = names.filter(name => !existing.has(name))
  if (unknown.length === 0) return undefined
  const sentences = unknown.slice(0, 3).map(name => {
    const close = suggestionsFor(name.slice(0, COMPARED_LENGTH), known)
    const meant = close.length > 0 ? ` Did you mean ${close.join(', ')}?` : ''
    return `There is no event ${JSON.stringify(name.slice(0, 60))}.${meant}`
  })
  return `${sentences.join(' ')} GET /events/types lists them all.`
}

const MAX_SUGGESTIONS = 3
/** Only this prefix of a name is compared, so that a huge name costs no more. */
const COMPARED_LENGTH = 40

function suggestionsFor(name: string, known: readonly string[]): string[] {
  const [noun = ''] = name.split('.')
  const far = Math.max(3, Math.floor(name.length / 3))
  const hasSameNoun = (event: string): boolean => noun !== '' && event.startsWith(`${noun}.`)
  // The distance is at least the difference in length, which avoids most comparisons.
  return known
    .filter(event => Math.abs(event.length - name.length) <= far || hasSameNoun(event))
    .map(event => ({ event, distance: editDistance(name, event) }))
    .filter(({ event, distance }) => distance <= far || hasSameNoun(event))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ event }) => event)
}

/** The Levenshtein distance: letters to insert, delete or replace to turn one text into the other. */
function editDistance(one: string, other: string): number {
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
