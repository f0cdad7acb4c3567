import './filler-keys/refused-keys.ts'
import { describe, expect, test } from '@jest/globals'
import { calculateJwkThumbprint } from 'jose'
import { aKeyPair, kindsOfKeys } from '../support/cards/encryption-keys.ts'
import { aLiveClient, anAgent, aToken, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf } from '../support/trace.ts'

const service = await startTestService()

const register = (client: TestClient, jwk: object, label = 'Browser extension') =>
  client.fillerKeys.create({ body: { label, publicKeyJwk: jwk as { kty: string } } })

const aJwk = async (): Promise<{ kty: string }> => (await aKeyPair()).key.jwk as unknown as { kty: string }

describe('a filler key', () => {
  test.each(kindsOfKeys)('of %s is registered under its RFC 7638 thumbprint', async kind => {
    const { client } = await service.owner()
    const { key } = await aKeyPair(kind)
    const answer = await register(client, key.jwk)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^fillerkey_[0-9a-z]{26}$/),
      label: 'Browser extension',
      alg: key.alg,
      thumbprint: await calculateJwkThumbprint(key.jwk),
      publicKeyJwk: key.jwk,
    })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['filler_key.created'] })
  })

  test('keeps only the members that make it what it is', async () => {
    const { client } = await service.owner()
    const jwk = await aJwk()
    const answer = await bodyOf(
      register(client, { ...jwk, kid: 'mine', use: 'enc', alg: 'ECDH-ES+A256KW', key_ops: [], ext: true }),
    )
    expect(answer.publicKeyJwk).toEqual(jwk)
  })

  test('is registered once, even by ten requests at once', async () => {
    const { client } = await service.owner()
    const jwk = await aJwk()
    const answers = await Promise.all(Array.from({ length: 10 }, () => register(client, jwk)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(400)])
    const { data } = await bodyOf(client.fillerKeys.list({ query: {} }))
    expect(data).toHaveLength(1)
    expect(answers.find(({ status }) => status === 400)?.error).toMatch(String(data[0]?.id))
  })

  test('of one owner or mode is nothing to another', async () => {
    const owner = await service.owner()
    const [stranger, live] = [(await service.owner()).client, await aLiveClient(service, owner)]
    const jwk = await aJwk()
    const { id } = await bodyOf(register(owner.client, jwk))
    for (const client of [stranger, live]) {
      expect((await client.fillerKeys.get({ params: { id } })).status).toBe(404)
      expect((await client.fillerKeys.delete({ params: { id } })).status).toBe(404)
      expect((await register(client, jwk)).status).toBe(201)
    }
  })

  test('can be read by an agent, not made and not deleted', async () => {
    const { client } = await service.owner()
    const { token } = await aToken(client, (await anAgent(client)).id)
    const agent = service.client(String(token))
    const { id, thumbprint } = await bodyOf(register(client, await aJwk()))
    expect((await bodyOf(agent.fillerKeys.get({ params: { id } }))).thumbprint).toBe(thumbprint)
    expect((await bodyOf(agent.fillerKeys.list({ query: { thumbprint } }))).data).toHaveLength(1)
    expect((await register(agent, await aJwk())).status).toBe(403)
    expect((await agent.fillerKeys.delete({ params: { id } })).status).toBe(403)
  })

  test('can be registered again once it is deleted', async () => {
    const { client } = await service.owner()
    const jwk = await aJwk()
    const { id } = await bodyOf(register(client, jwk))
    const answer = await client.fillerKeys.delete({ params: { id } })
    expect(answer.status).toBe(204)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['filler_key.deleted'] })
    expect((await client.fillerKeys.get({ params: { id } })).status).toBe(404)
    expect((await register(client, jwk)).status).toBe(201)
  })
})
