import type { RejectionCode } from '../../ports/identity-verification.ts'

/** Why a person was rejected, and what to send instead: in words for that person. */
export interface Rejection {
  readonly code: RejectionCode
  readonly reason: string
  readonly sendInstead: string | null
}

const words: Readonly<Record<RejectionCode, Omit<Rejection, 'code'>>> = {
  document_unreadable: {
    reason: 'A document cannot be read.',
    sendInstead: 'Send a sharp scan or photo of the whole page, in colour.',
  },
  document_expired: {
    reason: 'A document is not valid any more.',
    sendInstead: 'Send one that is valid today.',
  },
  document_not_accepted: {
    reason: 'A document is of a kind that is not taken, or not of this person.',
    sendInstead: 'Send the passport of the person, or both sides of the identity card.',
  },
  data_mismatch: {
    reason: 'Name, date of birth or address are not those of the documents.',
    sendInstead: 'Send them again, as they stand in the documents.',
  },
  person_refused: {
    reason: 'The provider does not verify this person.',
    sendInstead: null,
  },
  other: { reason: 'The person was not verified.', sendInstead: null },
}

/** The words of an operator count before those of the code. */
export const rejectionOf = (
  code: RejectionCode,
  given: { readonly reason?: string | undefined; readonly sendInstead?: string | null | undefined } = {},
): Rejection => ({
  code,
  reason: given.reason ?? words[code].reason,
  sendInstead: given.sendInstead === undefined ? words[code].sendInstead : given.sendInstead,
})

/** One sentence after the other, as a refusal tells it. */
export const rejectionInWords = ({ reason, sendInstead }: Rejection): string =>
  sendInstead ? `${reason} ${sendInstead}` : reason
