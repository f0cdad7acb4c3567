import { loadTokenBudgets, type RemainingTokenBudgets } from '../../control/agent-tokens/index.ts'
import { IntentPayments, type IntentRow, SpendLocks } from '../../control/intents/index.ts'
import {
  intentHoldReference,
  type PaymentBatch,
  PaymentSession,
  paymentBatch,
  writePayments,
} from '../../control/payments/index.ts'
import { type AskingPolicy, findFirstAskingPolicy } from '../../control/policies/index.ts'
import { readHolderNames } from '../../identity/customers/index.ts'
import {
  type AssertionRefusalCode,
  type CheckedAssertion,
  decideAssertion,
  type LockedPasskeyChallenges,
  lockPasskeyChallenges,
  readAssertions,
  type WebauthnAssertion,
  writeAssertionUse,
} from '../../identity/passkeys/index.ts'
import { toSepaText } from '../../iso20022/sepa-charset.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { EmitContext, RunForOwner } from '../../kernel/contract/context.ts'
import type { NonEmpty } from '../../kernel/contract/handlers.ts'
import type { Ports, Systems } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type BeneficiaryRow, beneficiariesById } from '../../money/beneficiaries/index.ts'
import {
  bookHandedOverCredits,
  type HandedOverCredit,
  NewCreditRows,
  payOwnerInBatch,
} from '../../money/incoming/index.ts'
import {
  type LedgerAccountKey,
  OWNER_TRANSFER_ACCOUNTS,
  type PostingCause,
  type PostingTemplate,
  shortfallMessage,
} from '../../money/ledger/index.ts'
import { loadRefundBook } from '../../money/refunds/index.ts'
import { isPurse, purseRefusal, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { MAX_TRANSFER_REFERENCE_LENGTH } from './api.ts'
import {
  newWalletPayment,
  sepaChannel,
  sepaPaymentFromTransfer,
  transferAuthorizedFact,
  transferEvidence,
  transferHoldReference,
  walletPaymentView,
} from './channels.ts'
import {
  type CreateTransferHandler,
  chargeTokenBudget,
  type InternalPayee,
  type InternalPaymentContext,
  intentTransferRefusal,
  paysOthersWithoutIntent,
  type TransferDecideContext,
  type TransferHandler,
  type TransferRequest,
} from './intent-checks.ts'
import {
  lockTodaysTransferLimit,
  type TodaysTransferLimit,
  type TransferDayTotals,
  transferLimitExceeded,
} from './limits.ts'
import { transferProcess } from './process.ts'
import type { transferEvents } from './schemas.ts'
import { requiresPaymentSignature, signedPayees, signedPaymentSubject } from './signed-payment.ts'
import { creditIdOfTransfer } from './take-back.ts'
import {
  insertTransfers,
  newSepaTransfer,
  newTransfer,
  type TransferRow,
  transferEvent,
  transferMachine,
  transferResponse,
} from './transfer.ts'

interface SepaTransferBatch {
  readonly payees: ReadonlyMap<string, BeneficiaryRow>
  readonly today: TodaysTransferLimit
  readonly railMissing: string | undefined
}

interface InternalPayments {
  readonly payerName: string
  readonly credits: NewCreditRows
  readonly handedOver: HandedOverCredit[]
}

export interface TransferBatch extends PaymentBatch {
  readonly sepa: SepaTransferBatch | undefined
  readonly records: InternalPayments | undefined
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly asking: AskingPolicy | undefined
  readonly tokenBudgets: RemainingTokenBudgets
  readonly transfers: TransferRow[]
}

/** Reads the wallets and locks the day's limit once the accounts are locked, as the freezing of a wallet does. */
async function loadTransferBatch(
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
  const [rows, sepa, records, wallets, refunds, asking] = await Promise.all([
    locks.take({
      ...(paysRecords ? betweenOwners(payees) : {}),
      ...{ reservations: references, wallets: uniqueIds, holds: references, intents },
    }),
    loadSepa(items, sql, systems),
    paysRecords ? loadRecordPayments(sql, { tenant, now }) : undefined,
    walletsById(sql, tenant, uniqueIds),
    loadRefundBook(sql, { tenant, now }, {}),
    items.some(({ input }) => paysOthersWithoutIntent(input.body))
      ? findFirstAskingPolicy(sql, tenant)
      : undefined,
  ])
  const payments = new IntentPayments({ tenant, now }, rows)
  const batch = paymentBatch({ tenant, now }, { payments, book: rows.book, wallets, refunds })
  return { ...batch, sepa, records, asking, tokenBudgets, transfers: [] }
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

async function writeTransferBatch(batch: TransferBatch, sql: Sql, runForOwner: RunForOwner): Promise<void> {
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

interface SignedTransferBatch extends TransferBatch {
  readonly checked: ReadonlyMap<WebauthnAssertion, CheckedAssertion>
  readonly locked: LockedPasskeyChallenges
}

async function loadSignedTransferBatch(
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

async function writeSignedTransferBatch(
  batch: SignedTransferBatch,
  sql: Sql,
  runForOwner: RunForOwner,
): Promise<void> {
  await Promise.all([
    writeTransferBatch(batch, sql, runForOwner),
    writeAssertionUse(sql, batch.tenant, batch.locked),
  ])
}

const payingWallet = ({ input }: TransferRequest, { wallets }: TransferBatch) =>
  wallets.get(input.body.fromWalletId)

function payWallet(request: TransferRequest, batch: TransferBatch, context: TransferDecideContext) {
  const { refuse } = context
  const { book, wallets, payments } = batch
  const intent = payments.find(request.input.body.intentId)
  const { toWalletId, amountCents } = request.input.body
  const from = payingWallet(request, batch)
  const to = wallets.get(String(toWalletId))
  if (!from || !to) return refuse('wallet_not_found')
  if (from === to) return refuse('same_wallet')
  if (isPurse(from)) return refuse('wallet_of_card', purseRefusal('fromWalletId')[1])
  if (isPurse(to)) return refuse('wallet_of_card', purseRefusal('toWalletId')[1])
  if (from.status === 'closed' || to.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  if (!intent && !book.canPay(from.id, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(from.id)))
  const transfer = newTransfer(request, membersOf(request, from, intent, batch))
  const cause = transferHoldReference(transfer.id)
  if (intent) captureIntent(transfer, intent, { capture: 'transfer', to: to.id, cause }, batch, context)
  else book.move('transfer', from.id, to.id, amountCents, cause)
  return complete(transfer, batch, context)
}

interface CaptureTarget {
  readonly capture: PostingTemplate
  readonly to: LedgerAccountKey
  readonly cause: PostingCause
}

function captureIntent(
  transfer: TransferRow,
  intent: IntentRow,
  { capture, to, cause }: CaptureTarget,
  batch: TransferBatch,
  context: TransferDecideContext,
): void {
  const payment = newWalletPayment(transfer, intent)
  const captured = { type: 'captured', cents: transfer.amountCents } as const
  const channel = {
    ...walletPaymentView,
    holdReference: transferHoldReference,
    clearing: to,
    postings: { capture },
  }
  const session = new PaymentSession(channel, batch, context)
  session.capture(payment, captured, transferEvidence(transfer, cause))
  transfer.transactionId = payment.transactionId
}

function complete(transfer: TransferRow, { transfers, now }: TransferBatch, { emit }: TransferDecideContext) {
  transferMachine.move(transfer, 'completed')
  transfer.completedAt = now
  transfers.push(transfer)
  emit('transfer.completed', transferEvent(transfer))
  return transferResponse(transfer)
}

function payBeneficiary(
  request: TransferRequest,
  batch: TransferBatch,
  sepa: SepaTransferBatch,
  context: TransferDecideContext,
) {
  const { refuse } = context
  const { book, payments } = batch
  const intent = payments.find(request.input.body.intentId)
  const { beneficiaryId, amountCents, scheme = 'sct', reference } = request.input.body
  const from = payingWallet(request, batch)
  const payee = sepa.payees.get(String(beneficiaryId))
  if (!from) return refuse('wallet_not_found')
  if (!payee) return refuse('beneficiary_not_found')
  if (isPurse(from)) return refuse('wallet_of_card', purseRefusal('fromWalletId')[1])
  if (sepa.railMissing) return refuse('sepa_rail_missing', sepa.railMissing)
  if (from.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const above = transferLimitExceeded(sepa.today, amountCents)
  if (above) return refuse(...above)
  if (!intent && !book.canPay(from.id, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(from.id)))
  const { name, sepaName, iban, bic } = payee
  const transfer = newSepaTransfer(request, {
    ...membersOf(request, from, intent, batch),
    scheme,
    reference: reference && toSepaText(reference, MAX_TRANSFER_REFERENCE_LENGTH),
    payee: { name, sepaName, iban, bic },
    countedOn: sepa.today.day,
  })
  beginTransfer(transfer, batch, sepa.today.days, context)
  batch.transfers.push(transfer)
  return transferResponse(transfer)
}

export function beginTransfer(
  transfer: TransferRow,
  batch: PaymentBatch,
  days: TransferDayTotals,
  context: EmitContext<Pick<typeof transferEvents, 'payment.updated'>>,
): void {
  const payment = sepaPaymentFromTransfer(transfer)
  const session = new PaymentSession(sepaChannel, batch, context)
  session.hold(payment, transferAuthorizedFact(transfer), transferEvidence(transfer))
  days.use(transfer)
  context.emit('payment.updated', transferEvent(transfer))
  context.wake(transferProcess, transfer)
}

function payRecord(
  request: TransferRequest,
  payee: InternalPayee,
  batch: TransferBatch,
  records: InternalPayments,
  context: InternalPaymentContext,
) {
  const { refuse } = context
  const { payments, wallets, book } = batch
  const intent = payments.find(request.input.body.intentId)
  const from = payingWallet(request, batch)
  const own = payee.ownerId === request.tenant.ownerId ? wallets.get(payee.walletId) : undefined
  if (!from || !intent) return refuse('wallet_not_found')
  if (from === own) return refuse('same_wallet')
  if (from.status === 'closed' || own?.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const members = membersOf(request, from, intent, batch)
  const transfer = newTransfer(request, { ...members, toWalletId: own?.id ?? null })
  const take = (cause: PostingCause) =>
    captureIntent(transfer, intent, { capture: 'charge_out', to: 'bank', cause }, batch, context)
  const { ownerId, walletId, name, payable } = payee
  const paid = {
    id: creditIdOfTransfer(transfer),
    fromWalletId: from.id,
    amountCents: transfer.amountCents,
    senderName: records.payerName,
    to: { ownerId, walletId, name },
    payable,
    reference: null,
  }
  const { id, handedOver } = payOwnerInBatch(paid, take, wallets, book, records.credits, context)
  transfer.creditId = id
  if (handedOver) records.handedOver.push(handedOver)
  return complete(transfer, batch, context)
}

function membersOf(
  request: TransferRequest,
  { id: fromWalletId, agentId }: WalletRow,
  intent: IntentRow | undefined,
  batch: TransferBatch,
) {
  const { toWalletId = null, beneficiaryId = null, intentId = null, ...body } = request.input.body
  const { amountCents, reference } = body
  const delegationId = intent?.delegationId ?? null
  const tokenId = chargeTokenBudget(request, intent, batch)
  return {
    ...{ agentId, fromWalletId, toWalletId, beneficiaryId, amountCents, reference },
    ...{ intentId, delegationId, tokenId },
  }
}

function payOwnPayee(request: TransferRequest, batch: TransferBatch, context: TransferDecideContext) {
  const refusal = intentTransferRefusal(request, batch, context)
  if (refusal) return refusal
  return batch.sepa && request.input.body.beneficiaryId !== undefined
    ? payBeneficiary(request, batch, batch.sepa, context)
    : payWallet(request, batch, context)
}

/** Runs in group commits: thousands of payments a second may come from few wallets. */
export const decideTransfers = {
  load: loadTransferBatch,
  decide(request, batch, context) {
    const { payee } = request.input.body
    if (!payee || !batch.records) return payOwnPayee(request, batch, context)
    return (
      intentTransferRefusal(request, batch, context) ??
      payRecord(request, payee, batch, batch.records, context)
    )
  },
  write: writeTransferBatch,
} satisfies TransferHandler<TransferBatch>

type CreateRequest = Parameters<CreateTransferHandler['decide']>[0]
type Verdict = Parameters<CreateTransferHandler['decide']>[2]

/** Verifies the signature of a payment, and uses up its challenge in any case. Undefined if the signature is valid. */
function signatureProblem(
  { input: { body }, actor }: CreateRequest,
  { checked, locked, wallets, sepa }: SignedTransferBatch,
  verdict: Verdict,
): AssertionRefusalCode | Problem | undefined {
  const found = body.webauthnAssertion && checked.get(body.webauthnAssertion)
  if (!found) return requiresPaymentSignature(actor) ? 'assertion_required' : undefined
  const stopped = locked.stopped.get(found)
  if (stopped) return stopped
  const members = signedPaymentSubject(body.fromWalletId, signedPayees(body, wallets, sepa?.payees))
  const personId = requiresPaymentSignature(actor) ? actor.id : null
  return decideAssertion(found, locked, { kind: 'payment', members, personId }, verdict)
}

export const createTransfer: CreateTransferHandler = {
  load: loadSignedTransferBatch,
  decide(request, batch: SignedTransferBatch, verdict) {
    const code = signatureProblem(request, batch, verdict)
    if (code instanceof Problem) return code
    return code ? verdict.refuse(code) : payOwnPayee(request, batch, verdict)
  },
  write: writeSignedTransferBatch,
}
