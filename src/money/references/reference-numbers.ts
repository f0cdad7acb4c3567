import { creditorReference, isCreditorReference } from '../../values/creditor-reference.ts'

/** The fixed number of digits in a reference, by which it is found inside a longer text. */
const LENGTH = 10

/** The ISO 11649 reference with this number of the register. */
export const referenceOf = (number: bigint): string => creditorReference(String(number).padStart(LENGTH, '0'))

/** Finds references in a text, whatever separates their digits. */
const MENTION = new RegExp(`(?<![A-Z0-9])RF(?:[\\s./-]*\\d){${2 + LENGTH}}(?!\\d)`, 'gi')

/** The distinct numbers of all valid references in a text. */
export function referenceNumbersIn(text: string): bigint[] {
  const references = [...text.matchAll(MENTION)].map(([mention]) =>
    mention.replace(/[\s./-]/g, '').toUpperCase(),
  )
  return [...new Set(references.filter(isCreditorReference))].map(reference => BigInt(reference.slice(4)))
}
