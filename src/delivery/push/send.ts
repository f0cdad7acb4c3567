import type { Outbound, OutboundAnswer } from '../../ports/outbound.ts'
import type { Vault } from '../../ports/vault.ts'
import { sealContext } from './subscription.ts'
import { openPrivateKey, type VapidKeys } from './vapid.ts'

/** Whom a push is for, with what is sealed still sealed. */
export interface Receiver {
  readonly id: string
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

export interface Letter {
  readonly payload: string
  readonly urgency: 'high' | 'normal'
  readonly topic: string
}

/** What has become of a push. */
export interface Sent {
  readonly delivered: boolean
  /** The push service knows the subscription no more. */
  readonly gone: boolean
  readonly status: number | null
  readonly message: string
}

export interface SendingPorts {
  readonly outbound: Outbound
  readonly vault: Vault
  readonly pushContact: string
}

/** A browser that is off for longer need not be told any more: who opens the page then sees what there is. */
const KEPT_SECONDS = 86_400
const ANSWERED_WITHIN_MS = 10_000
const READ_BYTES = 1_024

/** One push, sent once: encrypted (RFC 8291) and signed (RFC 8292), by Web Push (RFC 8030). */
export async function sendPush(
  { outbound, vault, pushContact }: SendingPorts,
  keys: VapidKeys,
  { id, endpoint, p256dh, auth }: Receiver,
  { payload, urgency, topic }: Letter,
): Promise<Sent> {
  // Loaded with the first push: few installations begin with one.
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
    ttl: String(KEPT_SECONDS),
    urgency,
    topic,
  }
  return sentOf(
    await outbound.send({
      ...{ url: endpoint, method: 'POST', headers, body: cipherText },
      ...{ timeoutMs: ANSWERED_WITHIN_MS, maxBytes: READ_BYTES },
    }),
  )
}

function sentOf(answer: OutboundAnswer): Sent {
  const failed = { delivered: false, gone: false, status: null }
  if (answer.kind !== 'answered') return { ...failed, message: answer.message }
  const { status } = answer
  if (status >= 200 && status < 300)
    return { delivered: true, gone: false, status, message: 'The push service has taken it.' }
  const gone = status === 404 || status === 410
  const message = `The push service answered ${status}${gone ? ': it knows the subscription no more' : ''}.`
  return { delivered: false, gone, status, message }
}
