import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  textArrayColumn,
  timestampColumn,
  zeroCentsColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain, secret } from '../../kernel/database/personal.ts'

/** `pending`: the processor has not issued the network token yet. `failed`: the processor refused it. */
export const agentCredentialMachine = stateMachine('agent_credential', {
  pending: ['active', 'failed', 'revoked', 'expired'],
  active: ['suspended', 'revoked', 'expired'],
  suspended: ['active', 'revoked', 'expired'],
  revoked: [],
  expired: [],
  failed: [],
})

const schema = defineEntity({
  ...tenantTable('AgentCredential', 'agent_credentials', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('agentcredential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: nullable.string(),
    /** The only machine payment that the token may pay; null for a token issued to an agent's key. */
    mppCredentialId: plain(nullable.string()),
    cardId: p.text(),
    status: p.enum(agentCredentialMachine.states).onCreate(() => agentCredentialMachine.initial),
    merchantScope: personal(textArrayColumn(), 'payment', 'contract', { value: '{[forgotten]}' }),
    amountLimitCents: centsColumn('amount_limit_cents'),
    spentCents: zeroCentsColumn('spent_cents'),
    maxCharges: nullable.integer(),
    charges: p.integer().onCreate(() => 0),
    expiresAt: timestampColumn(),
    revokedAt: nullable.instant(),
    processor: plain(p.text()),
    /** The processor's id of the network token; the token itself is never stored. */
    tokenId: secret(nullable.string()),
    last4: personal(nullable.string(), 'account', 'payments', { value: '0000' }),
    processorProblem: plain(nullable.string()),
    accessEventId: p.text(),
    keyThumbprint: plain(p.text()),
  },
})

/** A network token of a card for one agent. Each authorization is checked against the token's own limits. */
export class AgentCredential extends schema.class {}
schema.setClass(AgentCredential)

/** Repeats the condition of the partial index of deadlines exactly, so that PostgreSQL uses it. */
export const OPEN_AGENT_CREDENTIAL_SQL = "status in ('pending', 'active', 'suspended')"

export const agentCredentialEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  status,
  amountLimitCents,
}: AgentCredential) => ({
  agentCredentialId: id,
  agentId,
  intentId,
  cardId,
  status,
  amountLimitCents,
})
