import { AgentEvent } from '../../../control/agents/index.ts'
import { delegationRevokedEvent } from '../../../control/delegations/index.ts'
import { IntentPayments, SpendLocks } from '../../../control/intents/index.ts'
import { intentHoldReference, paymentBatch, writePayments } from '../../../control/payments/index.ts'
import { CustomerEvent } from '../../../identity/customers/index.ts'
import type { IsoReason } from '../../../iso20022/reason-codes.ts'
import { reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import type { WriteContext } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { selectColumnList, updateOf } from '../../../kernel/database/bulk-sql.ts'
import { idsWithDeadlineSql } from '../../../kernel/database/deadline-rows.ts'
import { readClockOffset } from '../../../kernel/database/tenant-clock.ts'
import { loadRefundBook } from '../../../money/refunds/index.ts'
import { WalletEvent, walletsById } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { transferHoldReference } from '../channels.ts'
import { lockTransferDays } from '../limits.ts'
import { transferEvents } from '../schemas.ts'
import { type TransferRow, transferTable } from '../transfer.ts'
import { cancellationReasons, cancelTransfer } from './sepa-transfer.ts'

const updateCancelled = updateOf(transferTable, ['status', 'reason', 'dueAt', 'updatedAt'])

interface Payer {
  readonly walletId?: string
  readonly agentId?: string
  readonly delegationIds?: readonly string[]
}

/**
 * Each unsubmitted transfer has a deadline. A transfer without an intent that an owner makes from an agent's
 * wallet does not belong to the agent.
 */
const FIND_UNSUBMITTED = `
select ${selectColumnList(transferTable, 't')} from transfers t
where (t.owner_id, t.mode) = ($1, $2) and t.id = any(${idsWithDeadlineSql('transfers', ['$1', '$2'])})
  and t.kind = 'sepa' and t.status in ('created', 'verifying')
  and ($3::text is null or t.from_wallet_id = $3)
  and ($4::text is null or (t.agent_id = $4 and t.intent_id is not null))
  and ($5::text[] is null or t.delegation_id = any($5))
  and ($6::text[] is null or t.id = any($6))
order by t.id`

const failed = { 'transfer.failed': transferEvents['transfer.failed'] }

/**
 * Cancels a payer's unsubmitted transfers in the transaction that blocks the payer: releases their holds, day
 * limits and intents. The caller has locked the wallet, agent or delegation, so no transfer can be added. An
 * owner is not locked, so a transfer made meanwhile is cancelled at its submission. Accounts are locked
 * before days and records, as everywhere: a concurrent payee confirmation either comes first or finds its
 * transfer cancelled.
 */
async function cancelUnsubmitted(
  payer: Payer,
  reason: IsoReason,
  context: WriteContext<typeof failed>,
): Promise<void> {
  const { sql, tenant, now, queueStatement } = context
  const { walletId = null, agentId = null, delegationIds = null } = payer
  const values = [tenant.ownerId, tenant.mode, walletId, agentId, delegationIds]
  const unlocked = await sql<TransferRow & Row>(FIND_UNSUBMITTED, [...values, null])
  if (unlocked.length === 0) return
  const intents = [...new Set(unlocked.flatMap(({ intentId }) => intentId ?? []))]
  // Cancels only those found before, since the open book lacks the holds of others.
  const ids = unlocked.map(({ id }) => id)
  const walletIds = [...new Set(unlocked.map(({ fromWalletId }) => fromWalletId))]
  const holds = [...ids.map(transferHoldReference), ...intents.map(intentHoldReference)]
  const [rows, days, transfers, wallets, refunds] = await Promise.all([
    new SpendLocks(sql, { tenant, now }).take({ wallets: walletIds, holds, intents }),
    lockTransferDays(sql, tenant, unlocked),
    sql<TransferRow & Row>(`${FIND_UNSUBMITTED} for update`, [...values, ids]),
    walletsById(sql, tenant, walletIds),
    loadRefundBook(sql, { tenant, now }, {}),
  ])
  // A cancellation changes no limits, so neither agents nor counters are locked.
  const payments = new IntentPayments({ tenant, now }, { intents: rows.intents })
  const batch = paymentBatch({ tenant, now }, { payments, book: rows.book, wallets, refunds })
  for (const transfer of transfers) {
    cancelTransfer({ transfer, batch, days }, reason, context)
    Object.assign(transfer, { updatedAt: now })
  }
  queueStatement(updateCancelled(sql, tenant, transfers))
  queueStatement(days.write(sql))
  queueStatement(writePayments(batch, sql))
}

export const cancelUnsubmittedReactions = {
  'agent.frozen': reaction(AgentEvent, failed, ({ agentId }, context) =>
    cancelUnsubmitted({ agentId }, cancellationReasons.agent_not_active, context),
  ),
  'delegation.revoked': reactionToAll(
    delegationRevokedEvent['delegation.revoked'],
    failed,
    (revoked, context) =>
      cancelUnsubmitted(
        { delegationIds: revoked.map(({ delegationId }) => delegationId) },
        cancellationReasons.delegation_revoked,
        context,
      ),
  ),
  'wallet.updated': reaction(WalletEvent, failed, async ({ walletId, status }, context) => {
    if (status === 'frozen') await cancelUnsubmitted({ walletId }, cancellationReasons.wallet_frozen, context)
  }),
  'customer.updated': reaction(CustomerEvent, failed, async ({ customerId: ownerId, status }, context) => {
    const { tenant, now, sql, switchTenant } = context
    if (status !== 'suspended') return
    for (const mode of ['test', 'live'] as const) {
      switchTenant({ ownerId, mode }, clock.tenant(await readClockOffset(sql, { ownerId, mode })))
      await cancelUnsubmitted({}, cancellationReasons.customer_suspended, context)
    }
    switchTenant(tenant, now)
  }),
}
