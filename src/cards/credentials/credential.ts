import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { plain } from '../../kernel/database/personal.ts'

export const credentialMachine = stateMachine('credential', {
  issued: ['redeemed', 'revoked', 'expired'],
  redeemed: ['issued'],
  revoked: [],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('Credential', 'credentials', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('credential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    status: p.enum(credentialMachine.states).onCreate(() => credentialMachine.initial),
    expiresAt: timestampColumn(),
    redeemedAt: nullable.instant(),
    revokedAt: nullable.instant(),
    accessEventId: nullable.string(),
    keyThumbprint: plain(nullable.string()),
  },
})

/** The right to have a card's data encrypted once, for one intent. It contains no data. */
export class Credential extends schema.class {}
schema.setClass(Credential)

/** Repeats the condition of the partial index of deadlines exactly, so that PostgreSQL uses it. */
export const OPEN_CREDENTIAL_SQL = "status = 'issued'"

export function unusableCredentialReason({ status, expiresAt }: Credential, now: Date) {
  if (status === 'redeemed') return 'credential_redeemed'
  if (status === 'revoked') return 'credential_revoked'
  return status === 'expired' || expiresAt <= now ? 'credential_expired' : undefined
}

export const credentialEvent = ({ id, agentId, intentId, cardId, status }: Credential) => ({
  credentialId: id,
  agentId,
  intentId,
  cardId,
  status,
})
