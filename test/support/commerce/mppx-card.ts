import { compactDecrypt } from 'jose'
import { Method, Receipt, z } from 'mppx'
import { merchantKey } from './challenges.ts'

/** The protocol's card method for mppx, which has none. */
export const mppxCard = Method.from({
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

export const mppxCardDetails = {
  acceptedNetworks: ['visa'],
  merchantName: 'Peer Shop',
  encryptionJwk: { ...merchantKey.jwk },
}

/** Accepts each card that it can decrypt; `charge` returns the reference. */
export const mppxAccepting = (charge: (token: unknown) => string) =>
  Method.toServer(mppxCard, {
    async verify({ credential }) {
      const { plaintext } = await compactDecrypt(credential.payload.encryptedPayload, merchantKey.privateKey)
      return Receipt.from({
        method: 'card',
        reference: charge(JSON.parse(Buffer.from(plaintext).toString())),
        status: 'success',
        timestamp: new Date().toISOString(),
      })
    },
  })
