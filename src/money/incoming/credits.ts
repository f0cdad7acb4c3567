import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import type { Cents } from '../../values/money.ts'
import { type PayableReference, payableColumns } from '../references/index.ts'
import { IncomingCredit } from './incoming-credit.ts'
import { findNewCreditDestinations, type ReceiveCreditsContext, receiveCredits } from './receive.ts'

const IN_WALLET = { $in: ['matched', 'assigned'] } as const

/** Locks the credits in the order of their ids. The caller locks the accounts first. */
export async function lockIncomingCredits(
  ids: readonly string[],
  { em, tenant }: WriteContext,
): Promise<ReadonlyMap<string, IncomingCredit>> {
  const credits =
    ids.length === 0 ? [] : await em.find(IncomingCredit, { ...tenant, id: { $in: ids } }, FOR_UPDATE_BY_ID)
  return new Map(credits.map(credit => [credit.id, credit]))
}

export const creditsOfPayable = (
  { type, id }: PayableReference,
  { em, tenant }: ReadContext,
): Promise<IncomingCredit[]> =>
  em.find(
    IncomingCredit,
    { ...tenant, payableType: type, payableId: id, status: IN_WALLET },
    { orderBy: { id: 'asc' } },
  )

export type UnusableCredit = 'credit_not_found' | 'credit_not_in_wallet' | 'credit_pays_already'

/** Matches a credit without a reference to this payable, since its payer omitted or mistyped the reference. */
export async function matchCreditToPayable(
  creditId: string,
  { walletId, payable }: { readonly walletId: string; readonly payable: PayableReference },
  context: WriteContext,
): Promise<IncomingCredit | UnusableCredit> {
  const { em, tenant } = context
  // Does not lock a credit that is being assigned, since the assignment locks the credit before the record
  // that it pays.
  const known = await em.findOne(IncomingCredit, { ...tenant, id: creditId })
  if (!known || !SEPA_SOURCES.has(known.source)) return 'credit_not_found'
  const credit = known.walletId === walletId && (await lockIncomingCredits([creditId], context)).get(creditId)
  if (!credit) return 'credit_not_in_wallet'
  if (credit.payableId !== null) return 'credit_pays_already'
  return Object.assign(credit, payableColumns(payable))
}

const SENDERS = `
select id, sender_name as name from incoming_credits where owner_id = $1 and mode = $2 and id = any($3::text[])`

export async function readCreditSenders(
  sql: Sql,
  { ownerId, mode }: Tenant,
  creditIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; name: string | null }>(SENDERS, [ownerId, mode, creditIds])
  return new Map(rows.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])))
}

const OWN_REFUNDS = `
select id, wallet_id as "walletId", payable_id as "paymentId", amount_cents as "amountCents" from incoming_credits
where owner_id = $1 and mode = $2 and id = any($3::text[]) and source = 'refund' and from_owner_id = $1`

interface OwnRefund extends Row {
  readonly id: string
  readonly walletId: string | null
  readonly paymentId: string | null
  readonly amountCents: Cents
}

export const readRefundsByOwners = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  creditIds: readonly string[],
): Promise<OwnRefund[]> => sql(OWN_REFUNDS, [ownerId, mode, creditIds])

/** Money from other sources is already counted: as a charge, a funding, or a payment of an owner. */
const SEPA_SOURCES: ReadonlySet<IncomingCredit['source']> = new Set(['bank', 'simulation'])

type Simulated = Pick<
  IncomingCredit,
  'iban' | 'amountCents' | 'reference' | 'senderName' | 'senderIban' | 'endToEndId'
> & { readonly bankReference?: string | undefined }

/** Test mode only: simulates a credit from the sandbox bank, into a wallet of the tenant or into its suspense. */
export async function simulateCredit(
  { bankReference = newId('booking'), ...members }: Simulated,
  context: ReceiveCreditsContext,
): Promise<IncomingCredit> {
  const { em, sql, tenant, now } = context
  const booking = { source: 'simulation', origin: tenant.ownerId, bankReference, part: 0 } as const
  const received = { ...members, ...booking, reason: null, valueDate: now.toISOString().slice(0, 10) }
  const destinations = await findNewCreditDestinations(sql, [received], { ...tenant, fallback: tenant })
  const [credit] = await receiveCredits(destinations, context)
  return credit ?? em.findOneOrFail(IncomingCredit, { ...tenant, ...booking })
}
