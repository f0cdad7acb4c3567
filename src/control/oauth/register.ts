import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock } from '../../values/clock.ts'
import type { oauthApi } from './api.ts'
import { livePlatformTenant, MAX_UNSEEN_CLIENTS, OauthClient, UNSEEN_CLIENT_TTL_MS } from './client.ts'
import { isRedirectUri } from './redirects.ts'

/** Ends the oldest of the address, so that one more is not above the limit. */
const END_OLDEST = `
delete from oauth_clients where (owner_id, mode, id) in (
  select owner_id, mode, id from oauth_clients
  where owner_id = $1 and mode = $2 and client = $3 and unused_until is not null
  order by unused_until desc offset $4)`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function endOldestOf(client: string, sql: Sql): Promise<void> {
  const { ownerId, mode } = livePlatformTenant
  await Promise.all([
    sql(LOCK_CLIENT, [`oauth clients of ${client}`]),
    sql(END_OLDEST, [ownerId, mode, client, MAX_UNSEEN_CLIENTS - 1]),
  ])
}

export const registerClient: HandlerOf<typeof oauthApi.register> = async (
  { body: { client_name: name, redirect_uris: redirectUris } },
  { em, sql, switchTenant, address, emit, refuse },
) => {
  if (!redirectUris.every(isRedirectUri)) return refuse('invalid_redirect_uri')
  const now = clock.real()
  const client = clientAddressKey(address ?? '')
  switchTenant(livePlatformTenant, now)
  await endOldestOf(client, sql)
  const unusedUntil = addMs(now, UNSEEN_CLIENT_TTL_MS)
  const { id, createdAt } = em.create(OauthClient, { name, redirectUris, client, unusedUntil })
  emit('assistant.registered', { clientId: id })
  return {
    client_id: id,
    client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
    client_name: name,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: 'none' as const,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}
