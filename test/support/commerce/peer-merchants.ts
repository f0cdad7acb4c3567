import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'
import { compactDecrypt } from 'jose'
import * as MppCard from 'mpp-card/server'
import { Method, Receipt, z } from 'mppx'
import { Mppx, stripe } from 'mppx/server'
import Stripe from 'stripe'
import { merchantKey } from './challenges.ts'

/** A merchant of another vendor's software, and what it has charged. */
export interface PeerMerchant {
  readonly url: string
  readonly charged: readonly unknown[]
}

const NAME = 'Peer Shop'
const NETWORKS = ['visa']
const SECRET = 'the-challenge-secret-of-a-peer-0123456789'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections()
})

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const sold = JSON.stringify({ report: 42 })

/** The protocol's card method, for a library without one. */
const card = Method.from({
  intent: 'charge',
  name: 'card',
  schema: {
    credential: {
      payload: z.object({
        encryptedPayload: z.string(),
        network: z.string(),
        panLastFour: z.string(),
        panExpirationMonth: z.string(),
        panExpirationYear: z.string(),
      }),
    },
    request: z.object({
      amount: z.string(),
      currency: z.string(),
      methodDetails: z.object({
        acceptedNetworks: z.array(z.string()),
        merchantName: z.string(),
        encryptionJwk: z.record(z.string(), z.unknown()),
      }),
    }),
  },
})

export async function mppxMerchant(amount: string): Promise<PeerMerchant> {
  const charged: unknown[] = []
  const method = Method.toServer(card, {
    async verify({ credential }) {
      const { plaintext } = await compactDecrypt(credential.payload.encryptedPayload, merchantKey.privateKey)
      charged.push(JSON.parse(Buffer.from(plaintext).toString()))
      return Receipt.from({
        method: 'card',
        reference: `charge-${charged.length}`,
        status: 'success',
        timestamp: new Date().toISOString(),
      })
    },
  })
  const payment = Mppx.create({ methods: [method], realm: 'peer.example.com', secretKey: SECRET })
  const methodDetails = {
    acceptedNetworks: NETWORKS,
    merchantName: NAME,
    encryptionJwk: { ...merchantKey.jwk },
  }
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount, currency: 'eur', methodDetails })
    void Mppx.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status !== 402) response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}

export async function mppCardMerchant(amount: string): Promise<PeerMerchant> {
  const charged: unknown[] = []
  const payment = MppCard.MppCard.create({
    acceptedNetworks: NETWORKS,
    merchantName: NAME,
    privateKey: merchantKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    realm: 'peer.example.com',
    secretKey: SECRET,
    gateway: {
      async charge({ token }) {
        charged.push(token)
        return { reference: `charge-${charged.length}`, status: 'success' }
      },
    },
  })
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount, currency: 'eur', recipient: 'shop' })
    void MppCard.MppCard.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status !== 402) response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}

interface StripeMerchantOptions {
  readonly amount: string
  readonly currency?: string
  readonly networkId: string
  /** The address of Stripe's API. */
  readonly apiUrl: string
  readonly externalId?: string
}

/** A merchant that mppx lets be paid by shared payment tokens, with Stripe's own client. */
export async function mppxStripeMerchant(options: StripeMerchantOptions): Promise<PeerMerchant> {
  const { amount, currency = 'eur', networkId, apiUrl, externalId } = options
  const charged: unknown[] = []
  const { hostname: host, port } = new URL(apiUrl)
  const client = new Stripe('sk_test_of_a_peer', { host, port, protocol: 'http', maxNetworkRetries: 0 })
  const method = stripe.charge({
    client: client as never,
    networkId,
    paymentMethodTypes: ['card'],
    currency,
    decimals: 2,
    ...(externalId === undefined ? {} : { externalId }),
  })
  const payment = Mppx.create({ methods: [method], realm: 'peer.example.com', secretKey: SECRET })
  const url = await listening((request, response) => {
    const charge = payment.charge({ amount })
    void Mppx.toNodeListener(charge)(request, response).then(({ status }) => {
      if (status === 402) return
      charged.push(status)
      response.setHeader('content-type', 'application/json').end(sold)
    })
  })
  return { url, charged }
}
