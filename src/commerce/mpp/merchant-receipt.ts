import { isUnusable, parseReceipt, receiptProblem } from '../../mpp/index.ts'
import { hasMaskableNumber } from '../../values/mask-card-numbers.ts'

interface ReceiptTerms {
  readonly challengeId: string
  readonly externalId: string | undefined
  readonly sentAt: Date
  readonly now: Date
}

/** The receipt as it came, or why it is none for this payment. It is unsigned: nothing but the money hangs on it. */
export type ReadReceipt = { readonly receipt: string } | { readonly receipt: null; readonly note: string }

export function readReceipt(header: string | undefined, terms: ReceiptTerms): ReadReceipt {
  if (header === undefined) return { receipt: null, note: 'The merchant gave no receipt.' }
  const parsed = parseReceipt(header)
  if (isUnusable(parsed)) return { receipt: null, note: parsed.problem }
  if (hasMaskableNumber(parsed)) return { receipt: null, note: 'The receipt contains the number of a card.' }
  const problem = receiptProblem(parsed, { ...terms, method: 'card' })
  if (problem !== undefined) return { receipt: null, note: problem }
  return { receipt: header.trim() }
}
