import { type Debtor, pain001 } from '../../iso20022/pain001.ts'
import type { PayeeCheck, SepaRail, Unanswered } from '../../ports/sepa-rail.ts'
import { bankDateOf } from '../../values/bank-calendar.ts'
import { recall, statusOf, submit } from './payments.ts'

/** The beginning of a name decides its bank's answer; the first match counts. Documented at the operation. */
const magic: readonly (readonly [RegExp, (rest: string) => PayeeCheck | Unanswered])[] = [
  [/^close (?=\S)/i, rest => ({ result: 'close_match', suggestedName: rest })],
  [/^no ?match\b/i, () => ({ result: 'no_match', suggestedName: null })],
  [/^unknown\b/i, () => ({ result: 'not_possible', suggestedName: null })],
  [/^timeout\b/i, () => 'late'],
  [/^garbled\b/i, () => 'unusable'],
]

/** The IBAN of wallets that have none of their own, with valid check digits. */
const NOBODYS = 'DE69999900010000000000'

const payerOf = (iban: string): Debtor => ({ name: 'Sandbox', iban, bic: null })

/** A simulated rail. Its banks confirm every name that no rule above answers otherwise. */
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
