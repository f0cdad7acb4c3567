import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { keysOf } from '../../values/collections.ts'
import type { PersonalData } from '../../values/personal.ts'
import { disputesApi } from '../disputes/index.ts'
import { mppApi } from '../mpp/index.ts'
import type { MppSignal } from '../mpp/process.ts'
import { railsApi } from '../rails/index.ts'
import { refundsApi } from '../refunds/index.ts'
import type { RefundSignal } from '../refunds/process.ts'
import { transfersApi } from '../transfers/index.ts'

/** What a person can do to end a doubt. An update has the name of the verb. */
type Verb = { readonly operation: AnyOperation } & (
  | { readonly verb: MppSignal | RefundSignal; readonly isUpdate: true }
  | { readonly verb: string; readonly isUpdate: false }
)

interface Doubt {
  readonly known: string
  readonly verbs: readonly Verb[]
}

/** The bank's message about the payment, or a statement that books it. */
const report: Verb = { verb: 'report', operation: railsApi.read, isUpdate: false }

/** By kind, as `keep_doubtful_money` names it. */
const doubts = {
  transfer: {
    known: 'The bank has not reported the outcome. The service asks again, and nothing is paid twice.',
    verbs: [{ verb: 'recall', operation: transfersApi.recall, isUpdate: false }, report],
  },
  machine_payment: {
    known: 'Sent once, and the merchant’s answer does not confirm it. After 31 days it counts as not paid.',
    verbs: [
      { verb: 'paid', operation: mppApi.resolve, isUpdate: true },
      { verb: 'notPaid', operation: mppApi.resolve, isUpdate: true },
    ],
  },
  charge: {
    known:
      'The acquirer has not answered. The service asks again under the same reference, which charges once.',
    verbs: [],
  },
  refund: {
    known: 'The card’s processor has not answered. The service asks again under the same reference.',
    verbs: [{ verb: 'cancel', operation: refundsApi.cancel, isUpdate: true }],
  },
  request_refund: {
    known:
      'The acquirer has not answered. The service asks again under the same reference, which refunds once.',
    verbs: [],
  },
  dispute: {
    known: 'The card’s processor has not answered. The service calls again, and the processor acts once.',
    verbs: [{ verb: 'withdraw', operation: disputesApi.withdraw, isUpdate: false }],
  },
  sepa_file: { known: 'Handed over to the bank, which has not reported on it.', verbs: [report] },
} as const satisfies Record<string, Doubt>

export type DoubtfulMoneyKind = keyof typeof doubts

export const doubtfulMoneyKinds = keysOf(doubts)

/** What is known of a record's money, and what ends the doubt. */
export function doubtAbout(kind: DoubtfulMoneyKind, id: string) {
  const { known, verbs }: Doubt = doubts[kind]
  return {
    known,
    verbs: verbs.map(({ verb, operation: { method, path, callers }, isUpdate }) => ({
      verb,
      by: callers.includes('dash') ? ('operator' as const) : ('owner' as const),
      call: `${method} ${path.replace('{id}', id)}`,
      isUpdate,
    })),
  }
}

export const doubtfulMoneyPersonalData = {
  doubtful_money: { personal: {}, plain: ['kind'] },
} as const satisfies PersonalData
