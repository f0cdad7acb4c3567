import { AgentEvent } from '../../../control/agents/index.ts'
import { DelegationRevoked } from '../../../control/delegations/index.ts'
import { CustomerEvent } from '../../../identity/customers/index.ts'
import { reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import { offsetOf } from '../../../kernel/database/tenant-clock.ts'
import { WalletEvent } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { transferEvents } from '../schemas.ts'
import { blockReasons } from './block-reasons.ts'
import { cancelUnsubmitted } from './cancel-unsubmitted.ts'

const failed = { 'transfer.failed': transferEvents['transfer.failed'] }

/** Freezing an agent or a wallet, revoking delegations or suspending a customer cancels what is not submitted yet. */
export const blockReactions = {
  'agent.frozen': reaction(AgentEvent, failed, ({ agentId }, context) =>
    cancelUnsubmitted({ agentId }, blockReasons.agent_not_active, context),
  ),
  'delegation.revoked': reactionToAll(DelegationRevoked['delegation.revoked'], failed, (revoked, context) =>
    cancelUnsubmitted(
      { delegationIds: revoked.map(({ delegationId }) => delegationId) },
      blockReasons.delegation_revoked,
      context,
    ),
  ),
  'wallet.updated': reaction(WalletEvent, failed, async ({ walletId, status }, context) => {
    if (status === 'frozen') await cancelUnsubmitted({ walletId }, blockReasons.wallet_frozen, context)
  }),
  /** A customer is suspended in both modes. */
  'customer.updated': reaction(CustomerEvent, failed, async ({ customerId: ownerId, status }, context) => {
    const { tenant, now, sql, actFor } = context
    if (status !== 'suspended') return
    for (const mode of ['test', 'live'] as const) {
      actFor({ ownerId, mode }, clock.tenant(await offsetOf(sql, { ownerId, mode })))
      await cancelUnsubmitted({}, blockReasons.customer_suspended, context)
    }
    actFor(tenant, now)
  }),
}
