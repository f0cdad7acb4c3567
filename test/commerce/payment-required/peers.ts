import { describe, expect, test } from '@jest/globals'
import { MppCard } from 'mpp-card/client'
import { Credential, Method, Receipt, z } from 'mppx'
import { Mppx } from 'mppx/client'
import { parseChallenges } from '../../../src/mpp/index.ts'
import { payloadFor } from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { create, get, urlOf } = await aPayee(service)

/** mppx has no method `card` of its own. */
const card = Method.toClient(
  Method.from({
    name: 'card',
    intent: 'charge',
    schema: { credential: { payload: z.looseObject({}) }, request: z.looseObject({}) },
  }),
  {
    async createCredential({ challenge }) {
      const header = (await import('mppx')).Challenge.serialize(challenge)
      const [own] = parseChallenges([header]).challenges
      if (!own) throw new Error('the challenge of the peer cannot be read')
      return Credential.serialize({ challenge, payload: payloadFor(own) })
    },
  },
)

describe('a foreign client pays a request', () => {
  test('that of mppx', async () => {
    const request = await create()
    const { fetch: payingFetch } = Mppx.create({ methods: [card], polyfill: false })
    const answer = await payingFetch(urlOf(request.id))
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ requestId: request.id })
    expect(Receipt.fromResponse(answer)).toMatchObject({
      status: 'success',
      method: 'card',
      externalId: request.id,
    })
    expect(await get(request.id)).toMatchObject({ status: 'paid' })
  })

  test('that of mpp-card, by GET and by POST', async () => {
    const { fetch: payingFetch } = MppCard.create({ cardId: 'card_1', polyfill: false })
    for (const init of [{}, { method: 'POST', body: '{"query": "weather"}' }]) {
      const request = await create()
      const answer = await payingFetch(urlOf(request.id), init)
      expect(await answer.json()).toMatchObject({ requestId: request.id })
      expect(answer.status).toBe(200)
      expect(await get(request.id)).toMatchObject({ status: 'paid', paidBy: 'card' })
    }
  })
})
