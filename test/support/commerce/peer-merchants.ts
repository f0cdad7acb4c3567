import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'
import { compactDecrypt } from 'jose'
import * as MppCard from 'mpp-card/server'
import { Method, Receipt, z } from 'mppx'
import { Mppx } from 'mppx/server'
import { merchantKey } from './challenges.ts'

/** A merchant of another vendor's software, and what it has charged. */
export interface PeerMerchant {
  readonly url: string
  readonly charged: readonly unknown[]
}

const NAME = 'Peer Shop'
const NETWORKS = ['visa']
const SECRET = 'the-challenge-secret-of-a-peer-0123456789'

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
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
