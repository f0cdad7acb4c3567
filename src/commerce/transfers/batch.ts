import { openTokenBudgets, type TokenBudgets } from '../../control/agent-tokens/index.ts'
import { openPayments } from '../../control/intents/index.ts'
import { type PaymentBatch, paymentBatch, writePayments } from '../../control/payments/index.ts'
import { holderNames } from '../../identity/customers/index.ts'
import {
  type CheckedAssertion,
  type Envelope,
  type LockedChallenges,
  lockChallenges,
  readAssertions,
  writeAssertions,
} from '../../identity/passkeys/index.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { RunForOwner } from '../../kernel/contract/context.ts'
import type { NonEmpty } from '../../kernel/contract/handlers.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { bookArrivals, CreditRows, type HandedOver } from '../../money/incoming/index.ts'
import { BETWEEN_OWNERS, openBook } from '../../money/ledger/index.ts'
import { openRefunds } from '../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { CreateHandler, RecordPayee, TransferRequest } from './intent-checks.ts'
import { lockToday, type TodaysLimit } from './limits.ts'
import { insertTransfers, type TransferRow } from './transfer.ts'

export interface SepaBatch {
  readonly payees: ReadonlyMap<string, PayeeRow>
  readonly today: TodaysLimit
  readonly railMissing: string | undefined
}

export interface RecordPayments {
  readonly payerName: string
  readonly credits: CreditRows
  readonly handedOver: HandedOver[]
}

export interface BatchState extends PaymentBatch {
  readonly sepa: SepaBatch | undefined
  readonly records: RecordPayments | undefined
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly tokenBudgets: TokenBudgets
  readonly transfers: TransferRow[]
}

/**
 * Locks the accounts before it reads the wallets and locks the day's limit. Freezing a wallet uses the same
 * order: first its account, then the days of its cancelled transfers.
 */
export async function loadBatch(
  items: NonEmpty<TransferRequest>,
  sql: Sql,
  ports: Ports,
): Promise<BatchState> {
  const { tenant, now } = items[0]
  const intentIds = items.flatMap(({ input: { body } }) => body.intentId ?? [])
  const tokenIds = items.flatMap(({ actor }) => actor.budgetId ?? [])
  const [payments, tokenBudgets] = await Promise.all([
    openPayments(sql, { tenant, now }, intentIds),
    openTokenBudgets(sql, tenant, tokenIds),
  ])
  const walletIds = items.flatMap(({ input: { body } }) =>
    [body.fromWalletId, body.toWalletId ?? [], body.payee?.walletId ?? []].flat(),
  )
  const uniqueIds = [...new Set(walletIds)]
  const payees = items.flatMap(({ input: { body } }) => body.payee ?? [])
  const paysRecords = payees.length > 0
  const accounts = { wallets: uniqueIds, holds: payments.holds }
  const [book, sepa, records, wallets, refunds] = await Promise.all([
    openBook(sql, { tenant, now }, paysRecords ? { ...accounts, ...betweenOwners(payees) } : accounts),
    loadSepa(items, sql, ports),
    paysRecords ? loadRecordPayments(sql, { tenant, now }) : undefined,
    walletsById(sql, tenant, uniqueIds),
    openRefunds(sql, { tenant, now }, {}),
    payments.lock(sql),
  ])
  const batch = paymentBatch({ tenant, now }, { payments, book, wallets, refunds })
  return { ...batch, sepa, records, tokenBudgets, transfers: [] }
}

const betweenOwners = (payees: readonly RecordPayee[]) => ({
  ...BETWEEN_OWNERS,
  beside: payees.map(({ ownerId, walletId }) => ({ ownerId, walletIds: [walletId] })),
})

async function loadRecordPayments(sql: Sql, { tenant, now }: TenantNow): Promise<RecordPayments> {
  const names = await holderNames(sql, [tenant.ownerId])
  return { payerName: names.get(tenant.ownerId) ?? '', credits: new CreditRows({ now }), handedOver: [] }
}

async function loadSepa(
  items: NonEmpty<TransferRequest>,
  sql: Sql,
  ports: Ports,
): Promise<SepaBatch | undefined> {
  const { tenant, now } = items[0]
  const ids = items.flatMap(({ input }) => input.body.beneficiaryId ?? [])
  if (ids.length === 0) return undefined
  const [today, payees] = await Promise.all([lockToday(sql, { tenant, now }), payeesById(sql, tenant, ids)])
  return { payees, today, railMissing: missingRail(ports, tenant.mode) }
}

function missingRail(ports: Ports, mode: Mode): string | undefined {
  try {
    ports.sepaRail(mode)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

export async function writeBatch(batch: BatchState, sql: Sql, runForOwner: RunForOwner): Promise<void> {
  const { sepa, records, transfers } = batch
  if (transfers.length === 0) return
  await Promise.all([
    sepa?.today.days.write(sql),
    insertTransfers(sql, transfers),
    records?.credits.insert(sql),
    writePayments(batch, sql),
    records && bookArrivals(records.handedOver, runForOwner),
  ])
}

export interface SignedBatch extends BatchState {
  readonly checked: ReadonlyMap<Envelope, CheckedAssertion>
  readonly locked: LockedChallenges
}

export async function loadSigned(
  requests: NonEmpty<Parameters<CreateHandler['decide']>[0]>,
  sql: Sql,
  ports: Ports,
): Promise<SignedBatch> {
  const { tenant } = requests[0]
  const envelopes = requests.flatMap(({ input }) => input.body.webauthnAssertion ?? [])
  const checked = await readAssertions(sql, tenant, envelopes, ports)
  const batch = await loadBatch(requests, sql, ports)
  const sent = requests.flatMap(({ input, actor, address }) => {
    const one = input.body.webauthnAssertion && checked.get(input.body.webauthnAssertion)
    return one ? { checked: one, actor, address } : []
  })
  return { ...batch, checked, locked: await lockChallenges(sql, tenant, sent) }
}

export async function writeSigned(batch: SignedBatch, sql: Sql, runForOwner: RunForOwner): Promise<void> {
  await Promise.all([writeBatch(batch, sql, runForOwner), writeAssertions(sql, batch.tenant, batch.locked)])
}
