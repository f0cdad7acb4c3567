import { merchantOf } from './merchant.ts'

interface WithNewNames {
  /** Texts of merchants that were found unresolved. */
  readonly newNames: string[] | null
}

/** Two parameters of `linesOf`: texts, and the merchants that they name. */
type KnownNames = readonly [readonly string[], readonly string[]]

/** Each time names may have become known that the time before had not. */
const MOST_TRIES = 5

/**
 * Reads sums that the database ranks. A text that is not resolved yet may belong to any of them: where there is one, all is
 * read again with it resolved, so that no sum is told without it.
 */
export async function withNames<R extends WithNewNames>(
  read: (known: KnownNames) => Promise<R[]>,
): Promise<{ readonly rows: R[]; readonly names: readonly string[] }> {
  const names = new Set<string>()
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const known = [...names]
    const rows = await read([known, known.map(merchantOf)])
    const found = rows.flatMap(({ newNames }) => newNames ?? [])
    if (found.length === 0) return { rows, names: known }
    for (const name of found) names.add(name)
  }
  throw new Error('new merchants are paid faster than their names are read')
}
