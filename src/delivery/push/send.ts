import { createECDH } from 'node:crypto'
import type { OperationSettings, Systems } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { OutboundAnswer } from '../../ports/outbound.ts'
import type { Vault } from '../../ports/vault.ts'
import { pushSecretContext, urgentPushEvents } from './subscription.ts'

interface EventHead {
  readonly eventId: string
  readonly event: string
  readonly createdAt: string
}

/** The event and the ids of its data only: a locked screen may show it, and the page requests the rest from the API. */
export function pushPayload(head: EventHead, data: Readonly<Record<string, unknown>>): string {
  const ids = Object.entries(data).filter(([name, value]) => /Id$/.test(name) && typeof value === 'string')
  return JSON.stringify({ ...head, ...Object.fromEntries(ids) })
}

/** The topic of an event. A push service keeps one push per topic (RFC 8030), so a repeated event appears once. */
export const pushTopic = (eventId: string): string => eventId.slice(eventId.indexOf('_') + 1).slice(0, 32)

export const pushUrgency = (event: string): 'high' | 'normal' =>
  urgentPushEvents.includes(event) ? 'high' : 'normal'

/** The key pair that identifies this installation to push services (RFC 8292), in base64url. */
export interface VapidKeys {
  readonly publicKey: string
  readonly privateKey: string
}

const CONTEXT = 'vapid-private-key'

const READ = 'select public_key as "publicKey", private_key as "privateKey" from vapid_keys'

/** Reads the key pair and creates it at the first call. It never changes, because browsers subscribe with it. */
export async function vapidKeys(sql: Sql, vault: Vault): Promise<VapidKeys> {
  const [existing] = await sql<VapidKeys & Row>(READ)
  if (existing) return existing
  const { publicKey, privateKey } = newPair()
  await sql(
    `insert into vapid_keys (public_key, private_key, created_at) values ($1, $2, clock_timestamp())
     on conflict do nothing`,
    [publicKey, vault.seal(privateKey, CONTEXT)],
  )
  // Another process may have stored its pair first, which then counts.
  const [stored] = await sql<VapidKeys & Row>(READ)
  if (!stored) throw new Error('the VAPID keys were not stored')
  return stored
}

export const openVapidPrivateKey = (vault: Vault, { privateKey }: VapidKeys): string =>
  vault.open(privateKey, CONTEXT)

function newPair() {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // Node omits leading zero bytes of a private key, and readers expect 32 bytes.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
  return { publicKey, privateKey }
}

export interface PushReceiver {
  readonly id: string
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

export interface PushMessage {
  readonly payload: string
  readonly urgency: 'high' | 'normal'
  readonly topic: string
}

export interface PushResult {
  readonly delivered: boolean
  readonly gone: boolean
  readonly status: number | null
  readonly message: string
}

export interface PushParts {
  readonly systems: Pick<Systems, 'outbound' | 'vault'>
  readonly settings: Pick<OperationSettings, 'vapidSubject'>
}

/** How long a push service keeps a push for an offline browser; older events are on the page. */
const TTL_SECONDS = 86_400
const ANSWERED_WITHIN_MS = 10_000
const READ_BYTES = 1_024

/** Sends one push by Web Push (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292). */
export async function sendPush(
  { systems: { outbound, vault }, settings: { vapidSubject } }: PushParts,
  keys: VapidKeys,
  { id, endpoint, p256dh, auth }: PushReceiver,
  { payload, urgency, topic }: PushMessage,
): Promise<PushResult> {
  // Imported with the first push, since most processes send none.
  const { default: webPush } = await import('web-push')
  const secret = vault.open(auth, pushSecretContext(id))
  const { cipherText } = webPush.encrypt(p256dh, secret, payload, 'aes128gcm')
  const { origin } = new URL(endpoint)
  const privateKey = openVapidPrivateKey(vault, keys)
  const proof = webPush.getVapidHeaders(origin, vapidSubject, keys.publicKey, privateKey, 'aes128gcm')
  const headers = {
    authorization: proof.Authorization,
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(TTL_SECONDS),
    urgency,
    topic,
  }
  return resultOf(
    await outbound.send({
      url: endpoint,
      method: 'POST',
      headers,
      body: cipherText,
      timeoutMs: ANSWERED_WITHIN_MS,
      maxBytes: READ_BYTES,
    }),
  )
}

function resultOf(answer: OutboundAnswer): PushResult {
  const failed = { delivered: false, gone: false, status: null }
  if (answer.kind !== 'answered') return { ...failed, message: answer.message }
  const { status } = answer
  if (status >= 200 && status < 300)
    return { delivered: true, gone: false, status, message: 'The push service accepted it.' }
  const gone = status === 404 || status === 410
  const message = `The push service answered ${status}${gone ? ': it no longer knows the subscription' : ''}.`
  return { delivered: false, gone, status, message }
}
