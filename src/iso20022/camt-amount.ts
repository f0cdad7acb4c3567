import type { Euros } from '../values/money.ts'
import { textAt, type XmlElement } from './xml-reader.ts'

/** Exact cents of a positive amount below ten billion; undefined for any other. Surplus trailing zeros are accepted. */
export function amountAt(element: XmlElement, path: string): Euros | undefined {
  const [, whole, cents = ''] = /^\+?(\d{1,10})(?:\.(\d{0,2})0*)?$/.exec(textAt(element, path) ?? '') ?? []
  if (whole === undefined) return undefined
  return BigInt(whole + cents.padEnd(2, '0')) || undefined
}
