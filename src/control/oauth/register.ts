import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock } from '../../values/clock.ts'
import type { oauthApi } from './api.ts'
import { livePlatformTenant, MAX_UNUSED_CLIENTS, OauthClient, UNUSED_CLIENT_TTL_MS } from './client.ts'
import { isRedirectUri } from './redirects.ts'

const UNUSED = `
select count(*)::int as unused from oauth_clients
where owner_id = $1 and mode = $2 and client = $3 and unused_until > $4`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function unusedOf(client: string, now: Date, sql: Sql): Promise<number> {
  const values = [livePlatformTenant.ownerId, livePlatformTenant.mode, client, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`oauth clients of ${client}`]),
    sql<{ unused: number } & Row>(UNUSED, values),
  ])
  return row?.unused ?? 0
}

export const registerClient: HandlerOf<typeof oauthApi.register> = async (
  { body: { client_name: name, redirect_uris: redirectUris } },
  { records, sql, switchTenant, address, emit, refuse },
) => {
  if (!redirectUris.every(isRedirectUri)) return refuse('invalid_redirect_uri')
  const now = clock.real()
  const client = clientAddressKey(address ?? '')
  switchTenant(livePlatformTenant, now)
  if ((await unusedOf(client, now, sql)) >= MAX_UNUSED_CLIENTS) return refuse('too_many_waiting')
  const unusedUntil = addMs(now, UNUSED_CLIENT_TTL_MS)
  const { id, createdAt } = records.create(OauthClient, { name, redirectUris, client, unusedUntil })
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
