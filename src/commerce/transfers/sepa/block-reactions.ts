import { AgentEvent } from '../../../control/agents/index.ts'
import { DelegationRevoked } from '../../../control/delegations/index.ts'
import { CustomerEvent } from '../../../identity/customers/index.ts'
import { reaction } from '../../../kernel/contract/area.ts'
import { offsetOf } from '../../../kernel/database/tenant-clock.ts'
import { WalletEvent } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { transferEvents } from '../schemas.ts'
import { stops } from './block-reasons.ts'
import { stopWaiting } from './cancel-unsubmitted.ts'

const failed = { 'transfer.failed': transferEvents['transfer.failed'] }

/** Who stops a payer stops what has not left of it, at once. */
export const stopReactions = {
  'agent.frozen': reaction(AgentEvent, failed, ({ agentId }, context) =>
    stopWaiting({ agentId }, stops.agent_not_active, context),
  ),
  'delegation.revoked': reaction(
    DelegationRevoked['delegation.revoked'],
    failed,
    ({ delegationId }, context) => stopWaiting({ delegationId }, stops.delegation_revoked, context),
  ),
  'wallet.updated': reaction(WalletEvent, failed, async ({ walletId, status }, context) => {
    if (status === 'frozen') await stopWaiting({ walletId }, stops.wallet_frozen, context)
  }),
  /** A customer is suspended in both modes. */
  'customer.updated': reaction(CustomerEvent, failed, async ({ customerId: ownerId, status }, context) => {
    const { tenant, now, sql, actFor } = context
    if (status !== 'suspended') return
    for (const mode of ['test', 'live'] as const) {
      actFor({ ownerId, mode }, clock.tenant(await offsetOf(sql, { ownerId, mode })))
      await stopWaiting({}, stops.customer_suspended, context)
    }
    actFor(tenant, now)
  }),
}
