import { openPaymentsToEnd } from '../../../control/intents/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { recordColumns, selectList, type Table, updateOf } from '../../../kernel/database/bulk-sql.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { transferEvent } from '../events.ts'
import { lockDay, takeOfDay } from '../limits/limits.ts'
import { transferProcess } from '../process.ts'
import type { transferEvents } from '../schemas.ts'
import { type Transfer, transferMachine } from '../transfer.ts'

const columns = {
  id: recordColumns.id,
  updatedAt: recordColumns.updatedAt,
  agentId: ['agent_id', 'text'],
  fromWalletId: ['from_wallet_id', 'text'],
  toWalletId: ['to_wallet_id', 'text'],
  beneficiaryId: ['beneficiary_id', 'text'],
  intentId: ['intent_id', 'text'],
  amountEuros: ['amount_cents', 'bigint'],
  status: ['status', 'text'],
  reason: ['reason', 'jsonb'],
  dueAt: ['due_at', 'timestamptz'],
  countedOn: ['counted_on::text', 'text'],
} as const

type Waiting = Pick<Transfer, keyof typeof columns>

const table: Table<Waiting> = { name: 'transfers', columns }
const updateWaiting = updateOf(table, ['status', 'reason', 'dueAt', 'updatedAt'])

/** Whose transfers are stopped: those of a wallet, on intents of an agent or under a delegation, or all of an owner. */
interface Whose {
  readonly walletId?: string
  readonly agentId?: string
  readonly delegationId?: string
}

/** In the words of their index. What an owner pays from an agent's wallet by himself is no spend of the agent. */
const FIND = `
select ${selectList(table, 't')} from transfers t
where (t.owner_id, t.mode) = ($1, $2) and t.kind = 'sepa' and t.status in ('created', 'verifying')
  and ($3::text is null or t.from_wallet_id = $3)
  and ($4::text is null or (t.agent_id = $4 and t.intent_id is not null))
  and ($5::text is null or t.delegation_id = $5)
  and ($6::text[] is null or t.id = any($6))
order by t.id`

type Stopping = Pick<
  Context<never, Pick<typeof transferEvents, 'transfer.failed'>>,
  'sql' | 'tenant' | 'now' | 'emit' | 'wake'
>

/**
 * Cancels what has not left by SEPA, in the transaction of whoever stops its payer: its money, the limit of its day and
 * its intent are free again. A wallet, an agent or a delegation is held by then, so no more of them come; of an owner,
 * whom nobody holds, what is being made meanwhile is stopped when it is to leave. The accounts are locked before the
 * days and the records, as everywhere, and whoever confirms a payee at the same moment comes before or finds it cancelled.
 */
export async function stopWaiting(whose: Whose, reason: Reason, context: Stopping): Promise<void> {
  const { sql, tenant, now } = context
  const { walletId = null, agentId = null, delegationId = null } = whose
  const values = [tenant.ownerId, tenant.mode, walletId, agentId, delegationId]
  const seen = await sql<Waiting & Row>(FIND, [...values, null])
  if (seen.length === 0) return
  const payments = openPaymentsToEnd(
    { tenant, now },
    seen.flatMap(({ intentId }) => intentId ?? []),
  )
  const wallets = [...new Set(seen.map(({ fromWalletId }) => fromWalletId))]
  const holds = [...seen.map(causeOf), ...payments.holds]
  const book = await openBook(sql, { tenant, now }, { wallets, holds })
  const days = await lockDays(seen, context)
  await payments.lock(sql)
  // No others: what is held for them is not open here.
  const stopped = await sql<Waiting & Row>(`${FIND} for update`, [...values, seen.map(({ id }) => id)])
  for (const transfer of stopped) {
    transferMachine.move(transfer, 'cancelled')
    Object.assign(transfer, { reason, dueAt: null, updatedAt: now })
    book.release(causeOf(transfer))
    const intent = payments.find(transfer.intentId)
    if (intent) payments.end(intent, context)
    days.giveBack(transfer)
    context.emit('transfer.failed', transferEvent(transfer))
    context.wake(transferProcess, transfer)
  }
  await updateWaiting(sql, stopped)
  await days.write()
  await payments.write(sql)
  await book.post(sql)
}

const causeOf = ({ id }: Waiting) => ({ type: 'transfer', id })

/** The limits of the days from which these transfers were taken, held. */
async function lockDays(transfers: readonly Waiting[], { sql, tenant }: Stopping) {
  const back = new Map(transfers.flatMap(({ countedOn }) => (countedOn ? [[countedOn, 0n]] : [])))
  for (const day of [...back.keys()].sort()) await lockDay(sql, tenant, day)
  return {
    giveBack({ countedOn, amountEuros }: Waiting): void {
      if (countedOn) back.set(countedOn, (back.get(countedOn) ?? 0n) + amountEuros)
    },
    async write(): Promise<void> {
      for (const [day, amount] of back) await takeOfDay(sql, tenant, day, -amount)
    },
  }
}
