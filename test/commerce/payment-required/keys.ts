import { describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor, keyIn, pay, present } from '../../support/commerce/machine-payer.ts'
import { aLiveClient, anAgent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'
import { aPayee } from './service.ts'

const service = await startTestService({ own: true })
const { client, create, owner, urlOf } = await aPayee(service)
const worker = await openWorkerRuntime(service)
const keys = async () => (await bodyOf(client.mppKeys.list())).data

describe('the keys of an owner', () => {
  test('keys are made once, on first use', async () => {
    expect(await keys()).toEqual([])
    const { id } = await create()
    const challenges = await Promise.all(Array.from({ length: 8 }, () => challengeOf(urlOf(id))))
    const [key, ...others] = await keys()
    expect(others).toEqual([])
    const { data } = await bodyOf(client.events.list({ query: { event: 'mpp_key.created' } }))
    expect(data.map(({ data }) => data)).toEqual([{ mppKeyId: key?.id, kid: key?.kid }])
    expect(new Set(challenges.map(challenge => keyIn(challenge).kid))).toEqual(new Set([key?.kid]))
    expect(key).toMatchObject({ retiredAt: null, publicKeyJwk: keyIn(challenges[0] as never) })
  })

  test('keys belong to one owner and mode', async () => {
    const stranger = await aPayee(service)
    const { id } = await stranger.create()
    const foreign = keyIn(await challengeOf(stranger.urlOf(id)))
    expect((await keys()).map(({ kid }) => kid)).not.toContain(foreign.kid)
    const live = await aLiveClient(service, owner)
    expect((await bodyOf(live.mppKeys.list())).data).toEqual([])
  })

  test('keys are sealed and never shown', async () => {
    const [row] = await service.sql('select secret, private_key from mpp_keys limit 1')
    for (const sealed of [row?.secret, row?.private_key]) expect(sealed).toMatch(/^[\w-]{8}\.[\w-]+$/)
    expect(JSON.stringify(await keys())).not.toMatch(/"(d|secret|privateKey)"/)
  })

  test('are replaced: new challenges have the new one, and open ones can still be paid', async () => {
    const [first, second] = [await create(), await create()]
    const old = await challengeOf(urlOf(first.id))
    const rotated = await bodyOf(client.mppKeys.rotate())
    expect(rotated).toMatchObject({ retiredAt: null, endsAt: null })
    const fresh = await challengeOf(urlOf(second.id))
    expect([keyIn(old).kid, keyIn(fresh).kid]).not.toContain(undefined)
    expect(keyIn(fresh).kid).toBe(rotated.kid)
    expect(await present(urlOf(first.id), credentialFor(old))).toMatchObject({ status: 200 })
    expect(await present(urlOf(second.id), credentialFor(fresh))).toMatchObject({ status: 200 })
    const { data } = await bodyOf(client.events.list({ query: { event: 'mpp_key.rotated' } }))
    expect(data[0]?.data).toEqual({ mppKeyId: rotated.id, kid: rotated.kid, replacedKid: keyIn(old).kid })
  })

  test('are deleted ten minutes after they were replaced, and not before', async () => {
    const { id } = await create()
    const old = credentialFor(await challengeOf(urlOf(id)))
    await bodyOf(client.mppKeys.rotate())
    await sweepAtOnce(worker)
    const left = () =>
      service.sql(
        `select 1 from mpp_keys where retired_at is not null and private_key is not null and owner_id = $1`,
        [owner.ownerId],
      )
    expect(await left()).toHaveLength(2)
    await client.sandbox.advance({ body: { minutes: 9 } })
    expect(await left()).toHaveLength(2)
    await client.sandbox.advance({ body: { minutes: 2 } })
    expect(await left()).toEqual([])
    const ended = await bodyOf(client.events.list({ query: { event: 'mpp_key.ended' } }))
    const replaced = (await keys()).filter(({ retiredAt }) => retiredAt !== null)
    expect(ended.data.map(({ data }) => data.kid).sort()).toEqual(replaced.map(({ kid }) => kid).sort())
    expect(await present(urlOf(id), old)).toMatchObject({ status: 402, body: { title: 'Invalid Challenge' } })
    expect(await pay(urlOf(id))).toMatchObject({ status: 200 })
  })

  test('concurrent replacements leave every challenge payable', async () => {
    await Promise.all([client.mppKeys.rotate(), client.mppKeys.rotate()])
    expect((await keys()).filter(({ retiredAt }) => retiredAt === null)).toHaveLength(1)
    expect(await pay(urlOf((await create()).id))).toMatchObject({ status: 200 })
  })

  test('are not for agents', async () => {
    const agent = await anAgent(client)
    const { token } = await aToken(client, agent.id)
    expect(await service.client(String(token)).mppKeys.rotate()).toMatchObject({ status: 403 })
  })
})
