/** Letters changed, left out, added or swapped with their neighbour (Damerau-Levenshtein). */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, row) => [row])
  const at = (row: number, column: number): number => rows[row]?.[column] ?? column
  for (let row = 0; row <= one.length; row++)
    for (let column = row === 0 ? 0 : 1; column <= other.length; column++)
      (rows[row] as number[])[column] = row === 0 ? column : cheapest(one, other, row, column, at)
  return at(one.length, other.length)
}

function cheapest(
  one: string,
  other: string,
  row: number,
  column: number,
  at: (row: number, column: number) => number,
): number {
  const isSame = one[row - 1] === other[column - 1]
  const isSwapped =
    row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
  return Math.min(
    at(row - 1, column) + 1,
    at(row, column - 1) + 1,
    at(row - 1, column - 1) + (isSame ? 0 : 1),
    isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
  )
}

/** No one types longer names by hand. */
const LONGEST = 64

const plain = (name: string): string => name.toLowerCase().replaceAll('-', '')

export function nearestName(typed: string, names: readonly string[]): string | undefined {
  if (typed === '' || typed.length > LONGEST) return undefined
  const scored = names.map(name => ({ name, score: scoreOf(plain(typed), plain(name)) }))
  const [best] = scored.sort((a, b) => a.score - b.score)
  return best && best.score <= Math.max(1, typed.length / 3) ? best.name : undefined
}

/** The beginning of a name is nearer to it than its edit distance says. */
const scoreOf = (typed: string, name: string): number =>
  typed.length > 1 && name.startsWith(typed) ? 0.5 : distance(typed, name)

export function didYouMeanText(typed: string, names: readonly string[]): string {
  const name = nearestName(typed, names)
  return name === undefined ? '' : ` Did you mean ${name}?`
}
