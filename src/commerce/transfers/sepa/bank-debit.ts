import { PaymentSession } from '../../../control/payments/index.ts'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../../iso20022/sepa-charset.ts'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { DEBT_ACCOUNTS } from '../../../money/ledger/index.ts'
import type { PayableWallet } from '../../../money/wallets/index.ts'
import type { SepaScheme } from '../../../ports/sepa-rail.ts'
import { utcDay } from '../../../values/clock.ts'
import { idTime } from '../../../values/ids.ts'
import { type Cents, formatMoney, subtractCents } from '../../../values/money.ts'
import { MAX_TRANSFER_REFERENCE_LENGTH } from '../api.ts'
import { sepaChannel, sepaPaymentFromTransfer, transferEvidence, transferHoldReference } from '../channels.ts'
import {
  insertTransfers,
  newSepaTransfer,
  type Transfer,
  type TransferRow,
  transferMachine,
  transferResponse,
} from '../transfer.ts'
import { applyNotice } from './notices.ts'
import {
  type LockedTransfer,
  lockTransfer,
  type TransferStepContext,
  writeTransfer,
} from './sepa-transfer.ts'

export interface BookedDebit {
  readonly amountCents: Cents
  readonly scheme: SepaScheme
}

/** A payment that the bank has debited, although no transfer of it was submitted. */
interface BankDebit {
  readonly endToEndId: string
  /** The debits with this reference in the bank's file. */
  readonly debits: readonly [BookedDebit, ...BookedDebit[]]
  /** The amounts of its returns in all files; null if a file gives none. */
  readonly returns: readonly (Cents | null)[]
  readonly payee: { readonly name: string; readonly iban: string } | undefined
  readonly reference: string | null
}

type BankDebitRefusal = readonly [
  (
    | 'debit_not_open'
    | 'debit_returned'
    | 'wallet_not_payer'
    | 'amount_differs'
    | 'wallet_closed'
    | 'payee_missing'
  ),
  string?,
]

interface AssignedDebit {
  readonly transfer: ReturnType<typeof transferResponse>
  /** What the wallet did not have. The owner owes it. */
  readonly owedCents: Cents
}

const KNOWN = `
select owner_id as "ownerId", mode, from_wallet_id as "walletId", amount_cents as "amountCents"
from transfers where end_to_end_id = $1`

type KnownTransfer = Row & Tenant & { readonly walletId: string; readonly amountCents: Cents }

/** The debit with the amount of the transfer, if the file has several. */
async function identify({ endToEndId, debits, returns, ...more }: BankDebit, sql: Sql) {
  const [known] = await sql<KnownTransfer>(KNOWN, [endToEndId])
  const booked = debits.find(({ amountCents }) => amountCents === known?.amountCents) ?? debits[0]
  const isReturned = returns.some(returned => returned === null || returned === booked.amountCents)
  return { known, isReturned, debit: { endToEndId, ...booked, ...more } }
}

type IdentifiedDebit = Awaited<ReturnType<typeof identify>>['debit']

/**
 * Books a debit to the wallet that paid. The bank has paid, so the wallet is debited even beyond its balance. The
 * transfer is the record of it, under its own id: a database that was restored to an earlier instant gets it again.
 * The caller has excluded concurrent assignments.
 */
export async function assignBankDebit(
  reported: BankDebit,
  wallet: Pick<PayableWallet, 'id' | 'status'>,
  context: TransferStepContext,
): Promise<AssignedDebit | BankDebitRefusal> {
  const { sql, tenant } = context
  const { known, isReturned, debit } = await identify(reported, sql)
  const refusal = known ? mismatch(debit, wallet, known, tenant) : unrestorable(debit, wallet)
  if (refusal) return refusal
  if (isReturned) return ['debit_returned']
  if (!known) await insertTransfers(sql, [lostTransfer(debit, wallet, context)])
  const locked = await lockTransfer(`transfer_${debit.endToEndId}`, context, { others: DEBT_ACCOUNTS })
  if (!locked) throw new Error(`${debit.endToEndId}: the transfer of the debit is missing`)
  const { transfer, batch } = locked
  if (!transferMachine.can(transfer.status, 'submitted')) return ['debit_not_open', alreadyBooked(transfer)]
  const owedBefore = batch.book.available('receivable')
  applyNotice(submit(locked, context), 'settled', null, context)
  const owedCents = subtractCents(batch.book.available('receivable'), owedBefore)
  await writeTransfer(locked, context)
  return { transfer: transferResponse(transfer), owedCents }
}

function mismatch(
  { endToEndId, amountCents }: IdentifiedDebit,
  wallet: Pick<PayableWallet, 'id'>,
  known: KnownTransfer,
  { ownerId, mode }: Tenant,
): BankDebitRefusal | undefined {
  const { walletId } = known
  if (walletId !== wallet.id || known.ownerId !== ownerId || known.mode !== mode)
    return [
      'wallet_not_payer',
      `walletId: transfer_${endToEndId} pays from ${walletId} of ${known.ownerId} (${known.mode} mode). Use that wallet.`,
    ]
  if (known.amountCents === amountCents) return undefined
  return [
    'amount_differs',
    `The bank has debited ${formatMoney(amountCents)}, and transfer_${endToEndId} is ${formatMoney(known.amountCents)}. Ask the bank.`,
  ]
}

function unrestorable(
  { payee }: IdentifiedDebit,
  { status }: Pick<PayableWallet, 'status'>,
): BankDebitRefusal | undefined {
  if (status === 'closed') return ['wallet_closed']
  return payee ? undefined : ['payee_missing']
}

const alreadyBooked = ({ id, status }: Transfer): string =>
  `endToEndId: ${id} is ${status}, so its debit is booked, or will be by the bank’s files. Nothing is left to assign.`

/** Begins as a transfer that never left, and counts as made when its id was. */
function lostTransfer(
  { endToEndId, amountCents, scheme, payee, reference }: IdentifiedDebit,
  { id: fromWalletId }: Pick<PayableWallet, 'id'>,
  { tenant, now }: TransferStepContext,
): TransferRow {
  if (!payee) throw new Error(`${endToEndId}: a transfer without its payee`)
  const createdAt = new Date(idTime(endToEndId))
  const transfer = newSepaTransfer(
    { tenant, now },
    {
      ...{ fromWalletId, amountCents, scheme, countedOn: utcDay(createdAt) },
      reference: reference && toSepaText(reference, MAX_TRANSFER_REFERENCE_LENGTH),
      payee: { ...payee, sepaName: toSepaText(payee.name, MAX_SEPA_NAME_LENGTH), bic: null },
    },
    `transfer_${endToEndId}`,
  )
  return { ...transfer, createdAt, status: 'cancelled', dueAt: null }
}

/** The money leaves the wallet. What is no longer held, or never was, is taken from what is available. */
function submit(locked: LockedTransfer, context: TransferStepContext): LockedTransfer {
  const { transfer, wallet, batch, days } = locked
  const { id, status } = transfer
  const isCounted = status === 'created' || status === 'verifying'
  // Its first submission is posted under its id, and was undone.
  const cause = { ...transferHoldReference(id), id: status === 'rejected' ? `${id}/debit` : id }
  const agentId = transfer.agentId ?? wallet.agentId
  const payment = sepaPaymentFromTransfer({ ...transfer, agentId, status: 'created', submittedAt: null })
  transferMachine.move(transfer, 'submitted')
  if (!isCounted) days.use(transfer)
  const captured = { type: 'captured', cents: transfer.amountCents } as const
  const session = new PaymentSession(sepaChannel, batch, context)
  session.apply(payment, captured, transferEvidence(transfer, cause))
  const { transactionId, intentId } = payment
  const submitted = { submittedAt: context.now, dueAt: context.now, reason: null }
  Object.assign(transfer, { ...submitted, transactionId, intentId, agentId })
  return { ...locked, payment }
}
