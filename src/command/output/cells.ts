import { safeLine } from './safe.ts'

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/

/** A value as people read it: amounts with their cents, instants without a `T`, lists with commas. */
export function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'number') return /Euros$/.test(name) ? amount(value) : String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return safeLine(value.replace(INSTANT, '$1 $2Z'))
  if (isListOfPlain(value)) return value.map(item => cellOf(name, item)).join(', ') || '–'
  return safeLine(JSON.stringify(value))
}

/** Cents as the ledger has them: never rounded, where a value has more of them. */
const amount = (value: number): string => {
  const fixed = value.toFixed(2)
  return Number(fixed) === value ? fixed : String(value)
}

export const isListOfPlain = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every(item => typeof item !== 'object' || item === null)

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
