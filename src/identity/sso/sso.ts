import { area, reaction } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { StatedProvider } from '../../statements/index.ts'
import { providers } from '../passkeys/index.ts'
import { personEvents } from '../people/index.ts'
import { ssoApi } from './api.ts'
import { createSsoProvider, removeSsoProvider, updateSsoProvider } from './configure.ts'
import { findSsoProvider, SsoAttempt, SsoProvider, SsoSubject, ssoProviderResponse } from './provider.ts'
import { finishSsoSignIn, startSsoSignIn } from './sign-in.ts'

const sso = bindHandlers(ssoApi, {
  create: createSsoProvider,
  update: updateSsoProvider,
  remove: removeSsoProvider,
  start: startSsoSignIn,
  signIn: finishSsoSignIn,

  async list(_, { page, service }) {
    const { data, ...rest } = await page(SsoProvider, {})
    return { ...rest, data: data.map(provider => ssoProviderResponse(provider, service)) }
  },

  async get({ params }, { em, service, refuse }) {
    const provider = await em.findOne(SsoProvider, { id: params.id })
    return provider ? ssoProviderResponse(provider, service) : refuse('provider_not_found')
  },

  async keys({ params }, { sql, refuse }) {
    const found = await findSsoProvider(params.id, sql)
    if (!found) return refuse('provider_not_found')
    return { type: 'application/json', content: JSON.stringify({ keys: [found.publicKey] }) }
  },
})

const FORGET = 'delete from sso_subjects where owner_id = $1 and mode = $2 and person_id = $3'

const CONFIGURATION = `
select issuer, client_id as "clientId", groups_claim as "groupsClaim", owner_groups as "ownerGroups",
  approver_groups as "approverGroups", viewer_groups as "viewerGroups"
from sso_providers where owner_id = $1 and mode = $2 and id = $3`

const configurationOf = answerTo(providers, async (id, { sql, tenant: { ownerId, mode } }) => {
  const [provider] = await sql<StatedProvider & Row>(CONFIGURATION, [ownerId, mode, id])
  return provider
})

export const ssoArea = area(
  'Single Sign-On',
  'Identity providers (OpenID Connect) that sign people in to the console, with roles by groups.',
  sso,
  {
    entities: [SsoProvider, SsoSubject, SsoAttempt],
    answers: [configurationOf],
    // Expired attempts are forgotten: a late answer is unknown.
    expiring: [{ table: 'sso_attempts', column: 'expires_at', keptMs: 0 }],
    reactions: {
      'person.removed': reaction(
        personEvents['person.removed'],
        {},
        async ({ personId }, { sql, tenant: { ownerId, mode }, queueStatement }) =>
          queueStatement(sql(FORGET, [ownerId, mode, personId])),
      ),
    },
  },
)
