import { paymentsToCancel } from '../../../control/intents/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { selectList, updateOf } from '../../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../../kernel/database/hot-table.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { transferEvent } from '../events.ts'
import { addToDay, lockDay } from '../limits/limits.ts'
import { transferProcess } from '../process.ts'
import type { transferEvents } from '../schemas.ts'
import { Transfer, transferMachine } from '../transfer.ts'

const MEMBERS = [
  'id',
  'updatedAt',
  'agentId',
  'fromWalletId',
  'toWalletId',
  'beneficiaryId',
  'intentId',
  'amountEuros',
  'status',
  'reason',
  'dueAt',
  'countedOn',
] as const satisfies readonly (keyof Transfer)[]

type Unsubmitted = Pick<Transfer, (typeof MEMBERS)[number]>

const table = tableOf(Transfer)
const updateCancelled = updateOf(table, ['status', 'reason', 'dueAt', 'updatedAt'])

/** Which transfers are cancelled: those of a wallet, on intents of an agent, under delegations, or all of an owner. */
interface Payer {
  readonly walletId?: string
  readonly agentId?: string
  readonly delegationIds?: readonly string[]
}

/**
 * The condition repeats that of the partial index, so that PostgreSQL uses it. A transfer without an intent that an owner
 * makes from an agent's wallet is not the agent's.
 */
const FIND_UNSUBMITTED = `
select ${selectList(table, 't', MEMBERS)} from transfers t
where (t.owner_id, t.mode) = ($1, $2) and t.kind = 'sepa' and t.status in ('created', 'verifying')
  and ($3::text is null or t.from_wallet_id = $3)
  and ($4::text is null or (t.agent_id = $4 and t.intent_id is not null))
  and ($5::text[] is null or t.delegation_id = any($5))
  and ($6::text[] is null or t.id = any($6))
order by t.id`

type CancelContext = Pick<
  Context<never, Pick<typeof transferEvents, 'transfer.failed'>>,
  'sql' | 'tenant' | 'now' | 'emit' | 'wake' | 'sendAlong'
>

/**
 * Cancels a payer's transfers that are not submitted yet, in the transaction that blocks the payer: their money, the
 * limits of their days and their intents are free again. A wallet, an agent or a delegation is locked by then, so no
 * transfer can be added. An owner is not: a transfer that is made meanwhile is cancelled at its submission. Accounts are
 * locked before days and records, as everywhere, so a payee that is confirmed at the same moment comes before this or
 * finds its transfer cancelled.
 */
export async function cancelUnsubmitted(payer: Payer, reason: Reason, context: CancelContext): Promise<void> {
  const { sql, tenant, now } = context
  const { walletId = null, agentId = null, delegationIds = null } = payer
  const values = [tenant.ownerId, tenant.mode, walletId, agentId, delegationIds]
  const unlocked = await sql<Unsubmitted & Row>(FIND_UNSUBMITTED, [...values, null])
  if (unlocked.length === 0) return
  const payments = paymentsToCancel(
    { tenant, now },
    unlocked.flatMap(({ intentId }) => intentId ?? []),
  )
  const wallets = [...new Set(unlocked.map(({ fromWalletId }) => fromWalletId))]
  const holds = [...unlocked.map(causeOf), ...payments.holds]
  // Only those found before: the holds of others are not in the open book.
  const ids = unlocked.map(({ id }) => id)
  const [book, days, , transfers] = await Promise.all([
    openBook(sql, { tenant, now }, { wallets, holds }),
    lockDays(unlocked, context),
    payments.lock(sql),
    sql<Unsubmitted & Row>(`${FIND_UNSUBMITTED} for update`, [...values, ids]),
  ])
  for (const transfer of transfers) {
    transferMachine.move(transfer, 'cancelled')
    Object.assign(transfer, { reason, dueAt: null, updatedAt: now })
    book.release(causeOf(transfer))
    const intent = payments.find(transfer.intentId)
    if (intent) payments.cancel(intent, context)
    days.giveBack(transfer)
    context.emit('transfer.failed', transferEvent(transfer))
    context.wake(transferProcess, transfer)
  }
  context.sendAlong(updateCancelled(sql, tenant, transfers))
  context.sendAlong(days.write())
  context.sendAlong(payments.write(sql))
  context.sendAlong(book.post(sql))
}

const causeOf = ({ id }: Unsubmitted) => ({ type: 'transfer', id })

/** Locks the daily limits that these transfers have used, oldest day first. */
async function lockDays(transfers: readonly Unsubmitted[], { sql, tenant }: CancelContext) {
  const givenBack = new Map(transfers.flatMap(({ countedOn }) => (countedOn ? [[countedOn, 0n]] : [])))
  await Promise.all([...givenBack.keys()].sort().map(day => lockDay(sql, tenant, day)))
  return {
    giveBack({ countedOn, amountEuros }: Unsubmitted): void {
      if (countedOn) givenBack.set(countedOn, (givenBack.get(countedOn) ?? 0n) + amountEuros)
    },
    async write(): Promise<void> {
      await Promise.all([...givenBack].map(([day, amount]) => addToDay(sql, tenant, day, -amount)))
    },
  }
}
