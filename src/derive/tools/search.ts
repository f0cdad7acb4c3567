import type { Registered } from '../../kernel/contract/operation.ts'

interface Indexed {
  readonly registered: Registered
  readonly name: ReadonlySet<string>
  readonly summary: ReadonlySet<string>
  readonly rest: ReadonlySet<string>
}

const WORD = /[a-z\d]{2,}/g
const MOST_WORDS = 20

/** Words in lower case, and without the ending of a plural. */
const wordsOf = (text: string): string[] =>
  (
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(WORD) ?? []
  ).map(word => (word.length > 3 ? word.replace(/s$/, '') : word))

const setOf = (text: string): ReadonlySet<string> => new Set(wordsOf(text))

/** Finds operations by words: those of the name count most, then those of the summary. */
export function searcher(operations: readonly Registered[]): (query: string) => Registered[] {
  const index = operations.map(
    (registered): Indexed => ({
      registered,
      name: setOf(`${registered.key} ${registered.tag}`),
      summary: setOf(`${registered.operation.summary} ${registered.operation.path}`),
      rest: setOf(`${registered.operation.description ?? ''} ${registered.operation.tool?.use ?? ''}`),
    }),
  )
  return query => {
    const words = [...new Set(wordsOf(query))].slice(0, MOST_WORDS)
    return index
      .map(one => ({ one, score: scoreOf(one, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.one.registered.key < b.one.registered.key ? -1 : 1))
      .map(({ one }) => one.registered)
  }
}

const scoreOf = ({ name, summary, rest }: Indexed, words: readonly string[]): number =>
  words.reduce(
    (sum, word) => sum + (name.has(word) ? 5 : 0) + (summary.has(word) ? 3 : 0) + (rest.has(word) ? 1 : 0),
    0,
  )
