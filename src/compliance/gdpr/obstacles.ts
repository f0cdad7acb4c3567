import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { DataSubjectType } from './data-export.ts'
import type { DataSubject } from './tables-of-subject.ts'

export const deletionBlockerTypes = {
  live_account: 'The account can have live money now. Cancel this deletion, and request it with a live key.',
  wallet: 'The wallet has money or debt. Pay it out with POST /transfers.',
  dispute: 'The dispute is not decided: wait, or withdraw it with POST /disputes/{id}/withdraw.',
  agent: 'The agent can still pay: DELETE /agents/{id}. Its cards are closed with it.',
  transfer: 'The transfer is on its way: wait until it has arrived or come back.',
  payment_request: 'The payment request can still be paid: POST /collect/{id}/cancel, or wait.',
  funding: 'The payment into the wallet is not decided: wait, or let the payer take the step that it needs.',
  identity_check:
    'Stripe has the person’s documents, and has not decided: wait, or ask the operator to reject it.',
  payment_method:
    'The payment method can still be charged: DELETE /billing/payment-methods/{id}. Once removed: wait until the processor has erased its payer.',
  incoming_credit:
    'The money is not assigned yet, or is in transit. Wait, or assign it with POST /incoming/{id}/assign.',
  intent: 'The intent can still be paid: POST /intents/{id}/cancel.',
  beneficiary: 'The beneficiary can still be paid: DELETE /beneficiaries/{id}.',
  person: 'The person can still sign in for the account: DELETE /people/{id}.',
  merchant:
    'The merchant is approved or has applied. Use POST /merchant-applications/{id}/revoke or /reject first.',
} as const
export type DeletionBlockerType = keyof typeof deletionBlockerTypes

export interface DeletionBlocker {
  readonly type: DeletionBlockerType
  readonly id: string
}

const MOST = 50

const OF_TENANT = 't.owner_id = $1 and t.mode = $2'
const IN_TRANSIT = "t.status in ('created', 'verifying', 'submitted')"

/** Test mode never deletes an account that can have live money: the test clock can be advanced at will. */
const LIVE_ACCOUNT = `customers t where t.id = $1 and $2 = 'test' and (t.kyc_status = 'verified'
  or exists (select from ledger_accounts l where l.owner_id = $1 and l.mode = 'live'))`

/** Money that another owner has paid or the platform held, and that is not posted yet. */
const HANDED_OVER = `incoming_credits t where t.to_owner_id = $1 and t.mode = $2 and t.due_at is not null`

const conditions: Readonly<
  Record<DataSubjectType, readonly (readonly [DeletionBlockerType, from: string, id?: string])[]>
> = {
  owner: [
    ['live_account', LIVE_ACCOUNT],
    [
      'wallet',
      `ledger_accounts t where ${OF_TENANT} and t.kind = 'wallet' and (t.posted_cents <> 0 or t.held_cents <> 0)`,
      't.wallet_id',
    ],
    ['dispute', `disputes t where ${OF_TENANT} and t.status in ('open', 'submitted')`],
    ['agent', `agents t where ${OF_TENANT} and t.status <> 'deleted'`],
    ['transfer', `transfers t where ${OF_TENANT} and ${IN_TRANSIT}`],
    [
      'payment_request',
      `payment_requests t where ${OF_TENANT} and (t.status = 'open' or t.refunding_cents > 0)`,
    ],
    ['funding', `fundings t where ${OF_TENANT} and t.status in ('pending', 'requires_action')`],
    [
      'identity_check',
      `kyc_submissions t where ${OF_TENANT} and t.provider = 'stripe' and t.status in ('pending', 'in_review')`,
    ],
    [
      'payment_method',
      `payment_methods t where ${OF_TENANT} and t.mode = 'live' and (t.status = 'active' or t.erase_at is not null)`,
    ],
    ['incoming_credit', `incoming_credits t where ${OF_TENANT} and t.status = 'unmatched'`],
    ['incoming_credit', HANDED_OVER],
  ],
  person: [['person', `people t where ${OF_TENANT} and t.id = $3 and t.status <> 'removed'`]],
  beneficiary: [
    ['beneficiary', `beneficiaries t where ${OF_TENANT} and t.id = $3 and t.deleted_at is null`],
    ['transfer', `transfers t where ${OF_TENANT} and t.beneficiary_id = $3 and ${IN_TRANSIT}`],
    [
      'intent',
      `intents t where ${OF_TENANT} and t.beneficiary_id = $3 and t.status in ('created', 'approved')`,
    ],
  ],
  payer: [
    [
      'payment_request',
      `payment_requests t where ${OF_TENANT} and t.id = $3 and (t.status = 'open' or t.refunding_cents > 0)`,
    ],
    ['incoming_credit', `incoming_credits t where ${OF_TENANT} and t.id = $3 and t.status = 'unmatched'`],
  ],
  merchant: [
    [
      'merchant',
      `merchant_applications t where ${OF_TENANT} and t.id = $3 and t.status in ('submitted', 'approved')`,
    ],
  ],
}

export async function findDeletionBlockers(
  { type, id }: DataSubject,
  { sql, tenant }: SqlContext,
): Promise<DeletionBlocker[]> {
  const found = conditions[type].map(
    ([obstacle, from, column = 't.id']) =>
      `(select '${obstacle}' as type, ${column} as id from ${from} and $3::text is not null order by 2 limit ${MOST})`,
  )
  const text = `select type, id from (${found.join(' union all ')}) as found limit ${MOST}`
  return sql<DeletionBlocker & Row>(text, [tenant.ownerId, tenant.mode, id])
}
