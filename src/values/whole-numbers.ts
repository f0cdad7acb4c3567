/** As many digits of a whole number beyond `Number.MAX_SAFE_INTEGER` are kept; zeros may follow. */
const KEPT_DIGITS = 15

/** Whether the number may be another one than was written: a long whole number is rounded, one beyond all is infinite. */
const mayBeRounded = (value: number): boolean =>
  !Number.isFinite(value) ||
  (Number.isInteger(value) && !Number.isSafeInteger(value) && digitsOf(value) > KEPT_DIGITS)

const digitsOf = (value: number): number =>
  value.toExponential().replace(/e.*$/, '').replace(/\D/g, '').length

/** The place of a number in JSON that may be another one than was sent. */
export function placeOfRoundedNumber(value: unknown): readonly PropertyKey[] | undefined {
  const open: { readonly value: unknown; readonly place: readonly PropertyKey[] }[] = [{ value, place: [] }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, place } = next
    if (typeof value === 'number' && mayBeRounded(value)) return place
    if (typeof value !== 'object' || value === null) continue
    const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
    for (const name of names)
      open.push({ value: (value as Record<PropertyKey, unknown>)[name], place: [...place, name] })
  }
  return undefined
}

/** Any number that is rounded has as many digits, or a long exponent. */
const LONG = /\d{16}|\d[eE]\+?\d{3}/

interface Written {
  readonly source?: string
}

/** Reads JSON. A whole number that would be rounded, or is beyond all numbers, becomes the text that was written. */
export const parseWholeNumbers = (text: string): unknown =>
  LONG.test(text)
    ? JSON.parse(text, (_: string, value: unknown, { source }: Written = {}) =>
        typeof value === 'number' && source !== undefined && isRounded(value, source) ? source : value,
      )
    : JSON.parse(text)

const isRounded = (value: number, source: string): boolean =>
  !Number.isFinite(value) || (/^-?\d{16,}$/.test(source) && BigInt(source) !== BigInt(value))
