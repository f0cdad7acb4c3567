import type { Column } from './hot-table.ts'

const operators = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=', $like: 'like', $ilike: 'ilike' } as const

/** Composes the text of a condition. Its values are appended to `values`; the text has only their places. */
export function conditionText(
  columns: ReadonlyMap<string, Column>,
  condition: object,
  values: unknown[],
): string {
  const place = (value: unknown): string => `$${values.push(value)}`
  const parts = Object.entries(condition).map(([key, wanted]) => {
    if (key === '$and' || key === '$or') {
      const joined = (wanted as object[]).map(part => conditionText(columns, part, values))
      return joined.length === 0 ? 'true' : `(${joined.join(key === '$or' ? ' or ' : ' and ')})`
    }
    if (key.startsWith('(')) {
      const own = [...(wanted as unknown[])]
      return key.replaceAll('?', () => place(own.shift()))
    }
    const column = columns.get(key)
    if (!column) throw new Error(`a condition names ${key}, which is no column`)
    return comparisonText(column, wanted, place)
  })
  return parts.length === 0 ? 'true' : parts.join(' and ')
}

function comparisonText({ name, type }: Column, wanted: unknown, place: (value: unknown) => string): string {
  if (wanted === undefined) throw new Error(`a condition on ${name} is undefined`)
  if (wanted === null) return `${name} is null`
  if (typeof wanted !== 'object' || wanted instanceof Date) return `${name} = ${place(wanted)}`
  const parts = Object.entries(wanted).map(([operator, value]) => {
    if (operator === '$ne') return value === null ? `${name} is not null` : otherThan(name, place(value))
    if (operator === '$in') return `${name} = any(${place(value)}::${type}[])`
    const sign = operators[operator as keyof typeof operators]
    if (!sign) throw new Error(`a condition on ${name} has the unknown operator ${operator}`)
    return `${name} ${sign} ${place(value)}`
  })
  return parts.join(' and ')
}

/**
 * `coalesce` hides the comparison from PostgreSQL's statistics: where all rows have the same status, they say that no row
 * has another one than $1, whatever that is, and a list would be sorted as if it were a single row.
 */
const otherThan = (name: string, place: string): string => `coalesce(${name} <> ${place}, false)`
