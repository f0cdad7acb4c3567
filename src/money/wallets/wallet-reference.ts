import { creditorReference, isCreditorReference } from '../../values/creditor-reference.ts'

/** As many digits as a wallet's number has in its reference: of the same length, it is found in the midst of a text. */
const LENGTH = 10

/** What a payer writes, so that the money finds this wallet. */
export const walletReference = (number: bigint): string =>
  creditorReference(String(number).padStart(LENGTH, '0'))

/** `RF`, check digits and number, however they are grouped and whatever stands around them. */
const MENTION = new RegExp(`(?<![A-Z0-9])RF(?:[\\s./-]*\\d){${2 + LENGTH}}(?!\\d)`, 'gi')

/** The numbers of the wallets that a text names by references whose check digits hold, each once. */
export function walletNumbersIn(text: string): bigint[] {
  const plain = [...text.matchAll(MENTION)].map(([mention]) => mention.replace(/[\s./-]/g, '').toUpperCase())
  return [...new Set(plain.filter(isCreditorReference))].map(reference => BigInt(reference.slice(4)))
}
