import { loadTokenBudgets, type RemainingTokenBudgets } from '../../control/agent-tokens/index.ts'
import { IntentPayments, SpendLocks } from '../../control/intents/index.ts'
import {
  intentHoldReference,
  type PaymentBatch,
  paymentBatch,
  writePayments,
} from '../../control/payments/index.ts'
import { readHolderNames } from '../../identity/customers/index.ts'
import {
  type CheckedAssertion,
  type LockedPasskeyChallenges,
  lockPasskeyChallenges,
  readAssertions,
  type WebauthnAssertion,
  writeAssertionUse,
} from '../../identity/passkeys/index.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { RunForOwner } from '../../kernel/contract/context.ts'
import type { NonEmpty } from '../../kernel/contract/handlers.ts'
import type { Ports, Systems } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type BeneficiaryRow, beneficiariesById } from '../../money/beneficiaries/index.ts'
import { bookHandedOverCredits, type HandedOverCredit, NewCreditRows } from '../../money/incoming/index.ts'
import { OWNER_TRANSFER_ACCOUNTS } from '../../money/ledger/index.ts'
import { loadRefundBook } from '../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { CreateTransferHandler, InternalPayee, TransferRequest } from './intent-checks.ts'
import { lockTodaysTransferLimit, type TodaysTransferLimit } from './limits.ts'
import { insertTransfers, type TransferRow } from './transfer.ts'

export interface SepaTransferBatch {
  readonly payees: ReadonlyMap<string, BeneficiaryRow>
  readonly today: TodaysTransferLimit
  readonly railMissing: string | undefined
}

export interface InternalPayments {
  readonly payerName: string
  readonly credits: NewCreditRows
  readonly handedOver: HandedOverCredit[]
}

export interface TransferBatch extends PaymentBatch {
  readonly sepa: SepaTransferBatch | undefined
  readonly records: InternalPayments | undefined
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly tokenBudgets: RemainingTokenBudgets
  readonly transfers: TransferRow[]
}

/** Reads the wallets and locks the day's limit once the accounts are locked, as the freezing of a wallet does. */
export async function loadTransferBatch(
  items: NonEmpty<TransferRequest>,
  sql: Sql,
  { systems, service }: Pick<Ports, 'systems' | 'service'>,
): Promise<TransferBatch> {
  const { tenant, now } = items[0]
  const intents = [...new Set(items.flatMap(({ input: { body } }) => body.intentId ?? []))]
  const tokenIds = items.flatMap(({ actor }) => actor.budgetId ?? [])
  const locks = new SpendLocks(sql, { tenant, now })
  const [, tokenBudgets] = await Promise.all([
    locks.agentsOf(intents),
    loadTokenBudgets(tokenIds, { sql, tenant, service }),
  ])
  const walletIds = items.flatMap(({ input: { body } }) =>
    [body.fromWalletId, body.toWalletId ?? [], body.payee?.walletId ?? []].flat(),
  )
  const uniqueIds = [...new Set(walletIds)]
  const payees = items.flatMap(({ input: { body } }) => body.payee ?? [])
  const paysRecords = payees.length > 0
  const references = intents.map(intentHoldReference)
  const [rows, sepa, records, wallets, refunds] = await Promise.all([
    locks.take({
      ...(paysRecords ? betweenOwners(payees) : {}),
      ...{ reservations: references, wallets: uniqueIds, holds: references, intents },
    }),
    loadSepa(items, sql, systems),
    paysRecords ? loadRecordPayments(sql, { tenant, now }) : undefined,
    walletsById(sql, tenant, uniqueIds),
    loadRefundBook(sql, { tenant, now }, {}),
  ])
  const payments = new IntentPayments({ tenant, now }, rows)
  const batch = paymentBatch({ tenant, now }, { payments, book: rows.book, wallets, refunds })
  return { ...batch, sepa, records, tokenBudgets, transfers: [] }
}

const betweenOwners = (payees: readonly InternalPayee[]) => ({
  ...OWNER_TRANSFER_ACCOUNTS,
  otherOwners: payees.map(({ ownerId, walletId }) => ({ ownerId, walletIds: [walletId] })),
})

async function loadRecordPayments(sql: Sql, { tenant, now }: TenantNow): Promise<InternalPayments> {
  const names = await readHolderNames(sql, [tenant.ownerId])
  return { payerName: names.get(tenant.ownerId) ?? '', credits: new NewCreditRows({ now }), handedOver: [] }
}

async function loadSepa(
  items: NonEmpty<TransferRequest>,
  sql: Sql,
  systems: Systems,
): Promise<SepaTransferBatch | undefined> {
  const { tenant, now } = items[0]
  const ids = items.flatMap(({ input }) => input.body.beneficiaryId ?? [])
  if (ids.length === 0) return undefined
  const [today, payees] = await Promise.all([
    lockTodaysTransferLimit(sql, { tenant, now }),
    beneficiariesById(sql, tenant, ids),
  ])
  return { payees, today, railMissing: missingRail(systems, tenant.mode) }
}

function missingRail(systems: Systems, mode: Mode): string | undefined {
  try {
    systems.sepaRail(mode)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

export async function writeTransferBatch(
  batch: TransferBatch,
  sql: Sql,
  runForOwner: RunForOwner,
): Promise<void> {
  const { sepa, records, transfers } = batch
  if (transfers.length === 0) return
  await Promise.all([
    sepa?.today.days.write(sql),
    insertTransfers(sql, transfers),
    records?.credits.insert(sql),
    writePayments(batch, sql),
    records && bookHandedOverCredits(records.handedOver, runForOwner),
  ])
}

export interface SignedTransferBatch extends TransferBatch {
  readonly checked: ReadonlyMap<WebauthnAssertion, CheckedAssertion>
  readonly locked: LockedPasskeyChallenges
}

export async function loadSignedTransferBatch(
  requests: NonEmpty<Parameters<CreateTransferHandler['decide']>[0]>,
  sql: Sql,
  ports: Pick<Ports, 'systems' | 'service'>,
): Promise<SignedTransferBatch> {
  const { tenant } = requests[0]
  const envelopes = requests.flatMap(({ input }) => input.body.webauthnAssertion ?? [])
  const checked = await readAssertions(sql, tenant, envelopes, ports.service)
  const batch = await loadTransferBatch(requests, sql, ports)
  const sent = requests.flatMap(({ input, actor, address }) => {
    const one = input.body.webauthnAssertion && checked.get(input.body.webauthnAssertion)
    return one ? { checked: one, actor, address } : []
  })
  return { ...batch, checked, locked: await lockPasskeyChallenges(sql, tenant, sent) }
}

export async function writeSignedTransferBatch(
  batch: SignedTransferBatch,
  sql: Sql,
  runForOwner: RunForOwner,
): Promise<void> {
  await Promise.all([
    writeTransferBatch(batch, sql, runForOwner),
    writeAssertionUse(sql, batch.tenant, batch.locked),
  ])
}
