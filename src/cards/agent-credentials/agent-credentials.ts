import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import {
  AgentCredential,
  agentCredentialEvent,
  agentCredentialMachine,
  OPEN_AGENT_CREDENTIAL_SQL,
} from './agent-credential.ts'
import { agentCredentialsApi } from './api.ts'
import { resumeAgentCredential, revokeAgentCredential, suspendAgentCredential } from './change-state.ts'
import { issueAgentCredential } from './issue.ts'

const agentCredentials = bindHandlers(agentCredentialsApi, {
  create: issueAgentCredential,
  revoke: revokeAgentCredential,
  suspend: suspendAgentCredential,
  resume: resumeAgentCredential,

  list: ({ query: { status, agentId, cardId } }, { page }) =>
    page(AgentCredential, definedOnly({ status, agentId, cardId })),

  get: getRecord(AgentCredential, 'agent_credential_not_found'),

  /** Needs no call, since the processor has known the token's expiry since it was issued. */
  async expire({ params }, { em, now, emit, refuse }) {
    const credential = await em.findOne(AgentCredential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('agent_credential_not_found')
    if (credential.expiresAt > now || !agentCredentialMachine.move(credential, 'expired'))
      return { expired: false }
    emit('agent_credential.expired', agentCredentialEvent(credential))
    return { expired: true }
  },
})

const expiry: Deadline = {
  process: { name: 'agent-credential' },
  table: 'agent_credentials',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN_AGENT_CREDENTIAL_SQL,
  waits: 'false',
  operations: ['agentCredentials.expire'],
}

export const agentCredentialsArea = area(
  'Pass-Through',
  'Network tokens of a card for an agent, each with its own merchants, amount, charges and lifetime.',
  agentCredentials,
  {
    entities: [AgentCredential],
    machines: [agentCredentialMachine],
    deadlines: [expiry],
  },
)
