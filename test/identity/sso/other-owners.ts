import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { discoverProvider } from '../../../src/identity/sso/openid.ts'
import { until } from '../../support/until.ts'
import { anOwnerWithSso, aProvider, begin, codeIn, finish, GRACE, invite } from './sso-service.ts'

const DISCOVERY = '/.well-known/openid-configuration'
/** More than the service sends at once for one owner. */
const MANY = 40

/** An identity provider for several owners, whose answers wait. */
async function aSlowProvider() {
  const provider = await aProvider()
  const asks = (path: string): number => provider.asked.filter(asked => asked === path).length
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    provider.hold = promise
    return () => {
      provider.hold = undefined
      resolve()
    }
  }
  return { provider, asks, hold }
}

const times = <T>(count: number, work: () => Promise<T>): Promise<T>[] => Array.from({ length: count }, work)

describe('an identity provider of several owners', () => {
  test('is asked once for all sign-ins of an owner that begin meanwhile', async () => {
    const { provider, asks, hold } = await aSlowProvider()
    const systems = { outbound: guardedHttp({ allow: ['127.0.0.1'] }) }
    const discover = (ownerId: string) =>
      discoverProvider({ ownerId, mode: 'test', issuer: provider.issuer }, systems)
    const answer = hold()
    const all = ['one', 'one', 'one', 'other'].map(discover)
    await until('it is asked', () => asks(DISCOVERY) === 2)
    answer()
    for (const found of await Promise.all(all)) expect(found).toMatchObject({ issuer: provider.issuer })
    await discover('one')
    expect(asks(DISCOVERY)).toBe(3)
  })

  test('answers everyone who begins to sign in, of one owner and of another', async () => {
    const { provider, asks, hold } = await aSlowProvider()
    const [one, other] = [await anOwnerWithSso({}, provider), await anOwnerWithSso({}, provider)]
    const before = asks(DISCOVERY)
    const answer = hold()
    const crowd = times(MANY, () => begin(one.id))
    await until('it is asked for the first owner', () => asks(DISCOVERY) === before + 1)
    const beside = begin(other.id)
    await until('it is asked for the other owner', () => asks(DISCOVERY) === before + 2)
    answer()
    // Each throws unless it is answered 201.
    expect(await Promise.all([...crowd, beside])).toHaveLength(MANY + 1)
  })

  test('signs in an owner’s person while it leaves those of another unanswered, who learn to try again', async () => {
    const { provider, asks, hold } = await aSlowProvider()
    const [one, other] = [await anOwnerWithSso({}, provider), await anOwnerWithSso({}, provider)]
    await invite(other)
    const begun = await Promise.all(times(MANY, () => begin(one.id)))
    const ours = await begin(other.id)
    const codes = begun.map(({ redirectTo }) => provider.authorize(redirectTo, GRACE))
    const ourCode = provider.authorize(ours.redirectTo, GRACE)
    const answer = hold()
    const early: unknown[] = []
    const crowd = begun.map(async (sent, n) => early.push(codeIn(await finish(one.id, codes[n] ?? {}, sent))))
    const held = 32
    await until('all others of the crowd are refused', () => early.length === MANY - held)
    expect(new Set(early.map(String))).toEqual(new Set(['503,provider_busy']))
    const beside = finish(other.id, ourCode, ours)
    await until('the other owner’s code reaches the provider', () => asks('/token') === held + 1)
    expect(early).toHaveLength(MANY - held)
    answer()
    expect((await beside).status).toBe(201)
    await Promise.all(crowd)
  })
})
