import { type Debtor, pain001 } from '../../iso20022/pain001.ts'
import type { PayeeCheck, SepaRail, Unanswered } from '../../ports/sepa-rail.ts'
import { bankDateOf } from '../../values/bank-calendar.ts'
import { recall, statusOf, submit } from './payments.ts'

/** What a name begins with decides how its bank answers; the first that fits counts. Documented where it is used. */
const magic: readonly (readonly [RegExp, (rest: string) => PayeeCheck | Unanswered])[] = [
  [/^close (?=\S)/i, rest => ({ result: 'close_match', suggestedName: rest })],
  [/^no ?match\b/i, () => ({ result: 'no_match', suggestedName: null })],
  [/^unknown\b/i, () => ({ result: 'not_possible', suggestedName: null })],
  [/^timeout\b/i, () => 'late'],
  [/^garbled\b/i, () => 'unusable'],
]

/** An account number with the right check digits, for a wallet that has none of its own. */
const NOBODYS = 'DE69999900010000000000'

const payerOf = (iban: string): Debtor => ({ name: 'Sandbox', iban, bic: null })

/** A rail that pays nobody: every bank behind it knows every account under the very name that is asked about. */
export const sandboxRail = (): SepaRail => ({
  async verifyPayee({ name }) {
    for (const [beginning, answer] of magic)
      if (beginning.test(name)) return answer(name.replace(beginning, ''))
    return { result: 'match', suggestedName: null }
  },
  submit: async payment => submit(payment),
  statusOf: async payment => statusOf(payment),
  recall: async payment => recall(payment),
  nextFile: (_, at) => ({ closesAt: at, executeOn: bankDateOf(at) }),
  message: order => pain001(order, payerOf(order.payments[0]?.payerIban ?? NOBODYS)),
  files: null,
})
