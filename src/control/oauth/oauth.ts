import { personEvents } from '../../identity/people/index.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, DONE } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { tokenScopeSetNames } from '../../kernel/contract/scopes.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import { agentTokenAuthenticator, agentTokenRevokedEvent } from '../agent-tokens/index.ts'
import { lockAgentsWhere } from '../agents/index.ts'
import { oauthApi } from './api.ts'
import { approveAssistant, challengeAssistant } from './approve.ts'
import { issuerOf, resourceOf } from './authorization.ts'
import { OauthClient } from './client.ts'
import { endGrant, lockGrant } from './end.ts'
import { endedGrantEvents } from './events.ts'
import { type GrantEndReason, grantMachine, OauthGrant, OPEN_GRANT_SQL } from './grant.ts'
import { registerClient } from './register.ts'
import { issueTokens, revokeTokens } from './tokens.ts'

const json = (content: object) => ({ type: 'application/json', content: JSON.stringify(content) })

const resourceMetadata = (service: RunningService) =>
  json({
    resource: resourceOf(service),
    authorization_servers: [issuerOf(service)],
    scopes_supported: tokenScopeSetNames,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    resource_name: 'Agent payments',
    resource_documentation: `${service.publicUrl()}/docs/guides/assistant-tools`,
  })

function serverMetadata(service: RunningService) {
  const issuer = issuerOf(service)
  return json({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    scopes_supported: tokenScopeSetNames,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [resourceOf(service)],
    service_documentation: `${service.publicUrl()}/docs`,
  })
}

const oauth = bindHandlers(oauthApi, {
  resource: (_, { service }) => resourceMetadata(service),
  resourceByPath: (_, { service }) => resourceMetadata(service),
  server: (_, { service }) => serverMetadata(service),
  register: registerClient,
  challenge: challengeAssistant,
  approve: approveAssistant,
  token: issueTokens,
  revoke: revokeTokens,

  async expire({ params }, context) {
    const { now, refuse } = context
    const grant = await lockGrant(params.id, context)
    if (!grant) return refuse('grant_not_found')
    if (grant.dueAt && grant.dueAt <= now) await endGrant(grant, 'expired', context)
    return DONE
  },
})

/** A code that was never exchanged, or a grant whose time is over. */
const expiry: Deadline = {
  process: { name: 'oauth-grant' },
  table: 'oauth_grants',
  agent: 'agent_id',
  open: OPEN_GRANT_SQL,
  operations: ['oauth.expire'],
}

const onTokenRevoked = reaction(
  agentTokenRevokedEvent['token.revoked'],
  endedGrantEvents,
  async ({ tokenId }, context) => {
    const grants = await context.em.find(OauthGrant, { tokenId, status: 'connected' }, FOR_UPDATE_BY_ID)
    for (const grant of grants) await endGrant(grant, 'token_revoked', context)
  },
)

const AGENTS_OF_PERSON = `id in (
  select g.agent_id from oauth_grants g where g.owner_id = ? and g.mode = ? and g.person_id = ? and g.${OPEN_GRANT_SQL})`

/** The assistants belong to the person. Locks agents before grants, as an exchange of tokens does. */
async function endAllOf(
  personId: string,
  because: GrantEndReason,
  context: WriteContext<typeof endedGrantEvents>,
): Promise<void> {
  const { em, tenant } = context
  const condition = sqlCondition(AGENTS_OF_PERSON, [tenant.ownerId, tenant.mode, personId])
  await lockAgentsWhere(em, condition)
  const open = { personId, ...sqlCondition(OPEN_GRANT_SQL) }
  const grants = await em.find(OauthGrant, open, FOR_UPDATE_BY_ID)
  for (const grant of grants) await endGrant(grant, because, context)
}

const onPersonRemoved = reaction(personEvents['person.removed'], endedGrantEvents, ({ personId }, context) =>
  endAllOf(personId, 'person_removed', context),
)

/** Only an owner connects an assistant. */
const onPersonUpdated = reaction(
  personEvents['person.updated'],
  endedGrantEvents,
  async ({ personId, role, changed }, context) => {
    if (changed.includes('role') && role !== 'owner') await endAllOf(personId, 'person_demoted', context)
  },
)

const MANDATE_OF_GRANT = `
select g.mandate_id from oauth_grants g
where (g.owner_id, g.mode, g.token_id) = (s.owner_id, s.mode, s.id) and g.status = 'connected'`

export const oauthArea = area(
  'OAuth',
  'How an assistant gets its own tokens by OAuth 2.1: a person approves it in the browser.',
  oauth,
  {
    entities: [OauthClient, OauthGrant],
    machines: [grantMachine],
    // An agent's token of an assistant spends by the mandate of its grant.
    credentials: { at: agentTokenAuthenticator(MANDATE_OF_GRANT) },
    deadlines: [expiry],
    expiring: [
      { table: 'oauth_clients', column: 'unused_until', keptMs: 0 },
      { table: 'oauth_grants', column: 'forget_at', keptMs: 0 },
    ],
    reactions: {
      'token.revoked': onTokenRevoked,
      'person.removed': onPersonRemoved,
      'person.updated': onPersonUpdated,
    },
  },
)
