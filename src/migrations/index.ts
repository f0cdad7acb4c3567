import { Kernel } from './m0001-kernel.ts'
import { Identity } from './m0002-identity.ts'
import { Control } from './m0003-control.ts'
import { AgentTokens } from './m0004-agent-tokens.ts'
import { Outbox } from './m0005-outbox.ts'
import { Intents } from './m0006-intents.ts'
import { ApplicationRole } from './m0007-application-role.ts'
import { Ledger } from './m0008-ledger.ts'
import { LedgerPosting } from './m0009-ledger-posting.ts'
import { Beneficiaries } from './m0010-beneficiaries.ts'
import { Wallets } from './m0011-wallets.ts'
import { Transfers } from './m0012-transfers.ts'
import { Deletion } from './m0013-deletion.ts'
import { SepaTransfers } from './m0014-sepa-transfers.ts'
import { Billing } from './m0015-billing.ts'
import { AgentWallets } from './m0016-agent-wallets.ts'
import { IntentIndexes } from './m0017-intent-indexes.ts'
import { Transactions } from './m0018-transactions.ts'
import { Decisions } from './m0025-decisions.ts'
import { PaidIntents } from './m0026-paid-intents.ts'
import { Runs } from './m0029-runs.ts'
import { Delegations } from './m0030-delegations.ts'

/** In the order in which they run. A migration that has been released is never changed. */
export const migrations = [
  { name: 'm0001-kernel', class: Kernel },
  { name: 'm0002-identity', class: Identity },
  { name: 'm0003-control', class: Control },
  { name: 'm0004-agent-tokens', class: AgentTokens },
  { name: 'm0005-outbox', class: Outbox },
  { name: 'm0006-intents', class: Intents },
  { name: 'm0007-application-role', class: ApplicationRole },
  { name: 'm0008-ledger', class: Ledger },
  { name: 'm0009-ledger-posting', class: LedgerPosting },
  { name: 'm0010-beneficiaries', class: Beneficiaries },
  { name: 'm0011-wallets', class: Wallets },
  { name: 'm0012-transfers', class: Transfers },
  { name: 'm0013-deletion', class: Deletion },
  { name: 'm0014-sepa-transfers', class: SepaTransfers },
  { name: 'm0015-billing', class: Billing },
  { name: 'm0016-agent-wallets', class: AgentWallets },
  { name: 'm0017-intent-indexes', class: IntentIndexes },
  { name: 'm0018-transactions', class: Transactions },
  { name: 'm0025-decisions', class: Decisions },
  { name: 'm0026-paid-intents', class: PaidIntents },
  { name: 'm0029-runs', class: Runs },
  { name: 'm0030-delegations', class: Delegations },
]
