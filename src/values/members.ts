/**
 * How members of records are shown to people, by their names and values: one rule for the command line and
 * the console.
 */

export type Row = Readonly<Record<string, unknown>>

type MemberKind =
  | 'none'
  | 'amount'
  | 'number'
  | 'flag'
  | 'instant'
  | 'id'
  | 'text'
  | 'list'
  | 'records'
  | 'record'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TYPE_ID = /^[a-z_]+_[0-9a-hjkmnp-tv-z]{26}$/

export const isTypeId = (value: string): boolean => TYPE_ID.test(value)

export const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isPlainList = (list: readonly unknown[]): boolean =>
  list.every(item => typeof item !== 'object' || item === null)

export function memberKind(name: string, value: unknown): MemberKind {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'number') return name.endsWith('Euros') ? 'amount' : 'number'
  if (typeof value === 'boolean') return 'flag'
  if (typeof value === 'string')
    return INSTANT.test(value) ? 'instant' : isId(name) || isTypeId(value) ? 'id' : 'text'
  if (Array.isArray(value)) return isPlainList(value) ? 'list' : 'records'
  return 'record'
}

const isId = (name: string): boolean => name === 'id' || name.endsWith('Id')

/** The most telling members, in this order; then the others, in the order of the contract. */
const FIRST = [
  'id',
  'name',
  'label',
  'event',
  'type',
  'status',
  'amountEuros',
  'availableEuros',
  'heldEuros',
  'merchant',
  'purpose',
  'createdAt',
]
/** The same in each row, or the least telling. */
const LAST = ['requestId', 'updatedAt', 'ownerId', 'mode']

/** The columns of a table, the most telling first. Nested members and those that are empty in each row are left out. */
export function commonTableMembers(rows: readonly Row[]): string[] {
  const all = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const plain = all.filter(name => {
    const kinds = rows.map(row => memberKind(name, row[name]))
    return kinds.every(kind => kind !== 'record' && kind !== 'records') && kinds.some(kind => kind !== 'none')
  })
  const names = [
    ...FIRST.filter(name => plain.includes(name)),
    ...plain.filter(name => !FIRST.includes(name) && !LAST.includes(name)),
    ...LAST.filter(name => plain.includes(name)),
  ]
  return names.length > 0 ? names : all
}
