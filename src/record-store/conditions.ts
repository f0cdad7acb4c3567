/** The column that a comparison is about. */
interface Compared {
  readonly name: string
  readonly type: string
}

/**
 * What a member is compared with, other than one value. Only the functions below make it: no object in JSON from outside
 * is one, as its class is not in the JSON.
 */
export class Comparison<V> {
  readonly #values: readonly (V | readonly V[])[]
  readonly #text: (column: Compared, places: readonly string[]) => string

  constructor(
    values: readonly (V | readonly V[])[],
    text: (column: Compared, places: readonly string[]) => string,
  ) {
    this.#values = values
    this.#text = text
  }

  /** `place` takes a value, and returns its place in the statement. */
  sql(column: Compared, place: (value: unknown) => string): string {
    return this.#text(column, this.#values.map(place))
  }
}

/**
 * `coalesce` hides the comparison from PostgreSQL's statistics: if all rows have the same status, they say
 * that no row has another status than $1, and a list would be sorted as if it were a single row.
 */
export const not = <const V>(value: V): Comparison<Exclude<V, null>> =>
  value === null
    ? new Comparison([], ({ name }) => `${name} is not null`)
    : new Comparison(
        [value as Exclude<V, null>],
        ({ name }, [place]) => `coalesce(${name} <> ${place}, false)`,
      )

export const oneOf = <const V>(values: readonly V[]): Comparison<V> =>
  new Comparison([values], ({ name, type }, [place]) => `${name} = any(${place}::${type}[])`)

const signs = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** A missing bound bounds nothing. */
type Bounds<V> = { readonly [Sign in keyof typeof signs]?: V | undefined }

export class Range<V> extends Comparison<V> {
  readonly bounds: Bounds<V>

  constructor(bounds: Bounds<V>) {
    const given = (Object.keys(signs) as (keyof typeof signs)[]).flatMap(key => {
      const value = bounds[key]
      return value === undefined ? [] : [{ sign: signs[key], value }]
    })
    super(
      given.map(({ value }) => value),
      ({ name }, places) =>
        given.map(({ sign }, index) => `${name} ${sign} ${places[index]}`).join(' and ') || 'true',
    )
    this.bounds = bounds
  }
}

export const inRange = <V>(bounds: Bounds<V>): Range<V> => new Range(bounds)

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const startsWith = (text: string): Comparison<string> =>
  new Comparison([`${escaped(text)}%`], ({ name }, [place]) => `${name} like ${place}`)

/** In any case, also of letters beyond ASCII, which the collation of a database may not fold. */
export const contains = (text: string): Comparison<string> =>
  new Comparison([`%${escaped(text)}%`], ({ name }, [place]) => `${name} ilike ${place} collate "pg_c_utf8"`)

export type SqlCondition = { readonly [sql: symbol]: readonly unknown[] }

/**
 * A condition in SQL, for what members cannot say; `?` stands for each value. Its key is a symbol, which no JSON contains,
 * and a new one each time, so that several can be spread into one condition.
 */
export const sqlCondition = (text: string, values: readonly unknown[] = []): SqlCondition => ({
  [Symbol(text)]: values,
})
