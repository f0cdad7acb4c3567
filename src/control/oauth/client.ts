import { defineEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  textArrayColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { SharedCache } from '../../values/bounded-cache.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { labelSchema } from '../../values/schemas.ts'
import { isRedirectUri } from './redirects.ts'

/** A client that registers names no account, so its row belongs to the platform. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

/** How long a registration waits for a person to open the page of consent. */
export const UNSEEN_CLIENT_TTL_MS = minutes(15)
/** How long a person may take to decide about the request on the page. */
export const CONSENT_TTL_MS = minutes(60)
/** An address that registers more loses its oldest ones. */
export const MAX_UNSEEN_CLIENTS = 100
export const MAX_REDIRECT_URIS = 20
export const MAX_CLIENT_ID = 500

const schema = defineEntity({
  ...tenantTable('OauthClient', 'oauth_clients'),
  properties: {
    ...recordColumns('client'),
    ...realTimestampColumns(),
    name: personal(p.text(), 'words', 'security', 'word'),
    redirectUris: plain(textArrayColumn()),
    client: personal(p.text(), 'device', 'security', 'word'),
    unusedUntil: nullable.instant(),
  },
})

/** A client that has registered itself. Nothing proves its name. */
export class OauthClient extends schema.class {}
schema.setClass(OauthClient)

export interface ConnectingClient {
  readonly clientId: string
  readonly name: string
  /** The host that has published the metadata; null for a client that has registered itself. */
  readonly host: string | null
  readonly redirectUris: readonly string[]
}

const REGISTERED = `
select id as "clientId", name, null::text as host, redirect_uris as "redirectUris" from oauth_clients
where owner_id = $1 and mode = $2 and id = $3 and (unused_until is null or unused_until > $4)`

async function findRegistered(id: string, sql: Sql): Promise<ConnectingClient | undefined> {
  const { ownerId, mode } = livePlatformTenant
  return (await sql<ConnectingClient & Row>(REGISTERED, [ownerId, mode, id, clock.real()]))[0]
}

const KEEP = `
update oauth_clients set unused_until = $5, client = '', updated_at = $4
where owner_id = $1 and mode = $2 and id = $3 and unused_until is not null`

const keepUntil = (until: Date | null, clientId: string, sql: Sql): Promise<unknown> =>
  sql(KEEP, [livePlatformTenant.ownerId, livePlatformTenant.mode, clientId, clock.real(), until])

/** A client before whose request a person sits no longer counts for the address that registered it. */
export const keepWhileDecided = (clientId: string, sql: Sql): Promise<unknown> =>
  keepUntil(addMs(clock.real(), CONSENT_TTL_MS), clientId, sql)

/** A client that a person has connected does not expire. */
export const keepRegistration = (clientId: string, sql: Sql): Promise<unknown> =>
  keepUntil(null, clientId, sql)

type Fetching = Pick<Systems, 'outbound'>

/** The owner for whom a document is fetched. */
type ForOwner = Pick<Tenant, 'ownerId'>

/** A client may be identified by the address of a document about itself: an https URL with a path. */
function isDocumentAddress(text: string, { outbound }: Fetching): boolean {
  if (text.length > MAX_CLIENT_ID || !URL.canParse(text)) return false
  const { protocol, pathname, hash, username, password, href } = new URL(text)
  if (href !== text || pathname === '/' || hash || username || password) return false
  return protocol === 'https:' || outbound.isAllowed(text)
}

const Metadata = z.object({
  client_id: z.string(),
  client_name: labelSchema.optional(),
  redirect_uris: z.array(z.string().refine(isRedirectUri)).min(1).max(MAX_REDIRECT_URIS),
  token_endpoint_auth_method: z.literal('none').optional(),
})

const MAX_DOCUMENT_BYTES = 10_240
const DOCUMENT_TIMEOUT_MS = 5_000

const MAX_CONCURRENT_DOCUMENTS = 4

const tryAgain = (): Problem =>
  new Problem('busy', 'This host has not answered your other requests yet. Try again.', {
    'Retry-After': String(DOCUMENT_TIMEOUT_MS / 1_000),
  })

async function fetchDocument(
  url: string,
  { ownerId }: ForOwner,
  { outbound }: Fetching,
): Promise<ConnectingClient | undefined> {
  const answer = await outbound.send({
    url,
    method: 'GET',
    headers: { accept: 'application/json' },
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
    maxConcurrent: { ownerId, most: MAX_CONCURRENT_DOCUMENTS },
  })
  if (answer.kind === 'busy') throw tryAgain()
  if (answer.kind !== 'answered' || answer.status !== 200 || answer.cut) return undefined
  if (!/^application\/([\w.-]+\+)?json\b/i.test(answer.headers['content-type'] ?? '')) return undefined
  const { success, data } = Metadata.safeParse(parseJson(answer.body))
  if (!success || data.client_id !== url) return undefined
  const { host } = new URL(url)
  return { clientId: url, name: data.client_name ?? host, host, redirectUris: data.redirect_uris }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

interface FetchedDocument {
  readonly until: number
  readonly client: Promise<ConnectingClient | undefined>
}

const DOCUMENT_KEPT_MS = minutes(10)
/** Soon tried again, but not with each reload of the page. */
const FAILURE_KEPT_MS = 10_000

const documents = new SharedCache<FetchedDocument>({ most: 500, mostOfOne: 20 })

function documentAt(url: string, owner: ForOwner, systems: Fetching): Promise<ConnectingClient | undefined> {
  const now = clock.ticks()
  const known = documents.get(url)
  if (known && known.until > now) return known.client
  const client = fetchDocument(url, owner, systems)
  const fetched = { until: now + DOCUMENT_KEPT_MS, client }
  documents.set(url, fetched, owner.ownerId)
  void client.then(
    found => found || documents.set(url, { until: clock.ticks() + FAILURE_KEPT_MS, client }, owner.ownerId),
    () => documents.delete(url, fetched),
  )
  return client
}

/** Calls another system for a client that is identified by a URL: never within a transaction. */
export async function findConnectingClient(
  clientId: string,
  { sql, systems, tenant }: ReadContext,
): Promise<ConnectingClient | undefined> {
  if (isDocumentAddress(clientId, systems)) return documentAt(clientId, tenant, systems)
  return /^client_\w{26}$/.test(clientId) ? findRegistered(clientId, sql) : undefined
}
