import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundHttp } from '../../../src/ports/outbound.ts'
import { certificate } from '../http/certificate.ts'
import { nameServer } from '../http/name-server.ts'

export interface Message {
  readonly headers: NodeJS.Dict<string | string[]>
  readonly payload: Record<string, unknown>
  readonly claims: Record<string, unknown>
  readonly senderKey: string
}

export interface Browser {
  readonly subscription: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } }
  readonly messages: Message[]
  /** Sets the status for this browser; null sends no answer. */
  answerWith(status: number | null): void
}

export interface PushService {
  /** Connects to the push service under its name and with its certificate. */
  readonly outbound: OutboundHttp
  browser(): Browser
}

type Receive = (headers: Message['headers'], body: Buffer) => number | null

/** A push service for tests, with browsers that decrypt their pushes (RFC 8030, 8291, 8292). */
export async function pushService(): Promise<PushService> {
  const { resolver } = await nameServer({ 'receiver.example': ['127.0.0.1'] })
  const receivers = new Map<string, Receive>()
  const server = createServer(certificate, async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const status = receivers.get(request.url ?? '')?.(request.headers, body) ?? null
    if (status !== null) response.writeHead(status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `https://receiver.example:${(server.address() as AddressInfo).port}`
  return {
    outbound: guardedHttp({ allow: ['127.0.0.0/8'], resolver, ca: certificate.cert }),
    browser() {
      const path = `/push/${randomBytes(12).toString('base64url')}`
      const keys = createECDH('prime256v1')
      const p256dh = keys.generateKeys('base64url')
      const auth = randomBytes(16)
      const messages: Message[] = []
      let status: number | null = 201
      receivers.set(path, (headers, body) => {
        const payload = JSON.parse(decrypt(body, keys.getPrivateKey(), auth).toString())
        messages.push({ headers, payload, ...proofOf(String(headers.authorization)) })
        return status
      })
      return {
        subscription: {
          endpoint: origin + path,
          expirationTime: null,
          keys: { p256dh, auth: auth.toString('base64url') },
        },
        messages,
        answerWith: next => {
          status = next
        },
      }
    },
  }
}

/** Decrypts `aes128gcm` with the key that only this browser can derive (RFC 8188 and 8291). */
export function decrypt(body: Buffer, privateKey: Buffer, auth: Buffer): Buffer {
  const own = createECDH('prime256v1')
  own.setPrivateKey(privateKey)
  const salt = body.subarray(0, 16)
  const sender = body.subarray(21, 21 + body.readUInt8(20))
  const sealed = body.subarray(21 + sender.length)
  const derive = (from: Buffer, by: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', from, by, info, length))
  const both = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender])
  const secret = derive(own.computeSecret(sender), auth, both, 32)
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const opening = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16))
  const padded = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()])
  return padded.subarray(0, padded.lastIndexOf(2))
}

/** The claims of a VAPID token, after its signature is verified. */
function proofOf(authorization: string): Pick<Message, 'claims' | 'senderKey'> {
  const [, token = '', senderKey = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(senderKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(half => half.toString('base64url'))
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: String(x), y: String(y) }, format: 'jwk' })
  const signed = { key, dsaEncoding: 'ieee-p1363' } as const
  if (!verify('sha256', Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, 'base64url')))
    throw new Error('the push is signed by somebody else')
  return { claims: JSON.parse(Buffer.from(claims, 'base64url').toString()), senderKey }
}
