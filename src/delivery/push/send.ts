import type { Outbound, OutboundAnswer } from '../../ports/outbound.ts'
import type { Vault } from '../../ports/vault.ts'
import { sealContext } from './subscription.ts'
import { openPrivateKey, type VapidKeys } from './vapid.ts'

/** The browser that a push is for; `auth` is sealed. */
export interface Receiver {
  readonly id: string
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

export interface Message {
  readonly payload: string
  readonly urgency: 'high' | 'normal'
  readonly topic: string
}

/** How the push service took a push. */
export interface PushResult {
  readonly delivered: boolean
  /** Whether the push service does not know the subscription any more. */
  readonly gone: boolean
  readonly status: number | null
  readonly message: string
}

export interface SendingPorts {
  readonly outbound: Outbound
  readonly vault: Vault
  readonly pushContact: string
}

/** How long a push service keeps a push for a browser that is off: the page shows what happened before. */
const TTL_SECONDS = 86_400
const ANSWERED_WITHIN_MS = 10_000
const READ_BYTES = 1_024

/** Sends one push by Web Push (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292). */
export async function sendPush(
  { outbound, vault, pushContact }: SendingPorts,
  keys: VapidKeys,
  { id, endpoint, p256dh, auth }: Receiver,
  { payload, urgency, topic }: Message,
): Promise<PushResult> {
  // Loaded with the first push: most starts of the service send none.
  const { default: webPush } = await import('web-push')
  const secret = vault.open(auth, sealContext(id))
  const { cipherText } = webPush.encrypt(p256dh, secret, payload, 'aes128gcm')
  const { origin } = new URL(endpoint)
  const privateKey = openPrivateKey(vault, keys)
  const proof = webPush.getVapidHeaders(origin, pushContact, keys.publicKey, privateKey, 'aes128gcm')
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
    return { delivered: true, gone: false, status, message: 'The push service has taken it.' }
  const gone = status === 404 || status === 410
  const message = `The push service answered ${status}${gone ? ': it knows the subscription no more' : ''}.`
  return { delivered: false, gone, status, message }
}
