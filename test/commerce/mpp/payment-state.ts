import { balanceOf, intentOf, type Payer } from '../../support/commerce/payers.ts'
import { credentialOf, transactionsOf } from './network.ts'
import { service } from './service.ts'

export const countersOf = ({ agent }: Payer) =>
  service.sql(
    `select period, reserved_cents as reserved, spent_cents as spent, uses, reserved_uses as open
     from counters where subject = $1 order by period`,
    [agent.id],
  )

export async function standingOf(payer: Payer) {
  const [credential, transactions, intent, { heldEuros, availableEuros }] = await Promise.all([
    credentialOf(payer),
    transactionsOf(payer),
    intentOf(payer),
    balanceOf(payer),
  ])
  return {
    credential: credential?.status ?? null,
    transactions: transactions.map(({ status, refundedEuros }) => [status, refundedEuros]),
    intent: [intent.status, intent.payment?.status ?? null],
    balance: { heldEuros, availableEuros },
  }
}
