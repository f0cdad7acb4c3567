import { beforeAll, describe, expect, test } from '@jest/globals'
import { linkedChallengeId } from '../../../src/values/challenge-link.ts'
import { aKey, anAgentUnder, bodyOf } from '../../support/factories.ts'
import { http, startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { type InConsole, peopleInConsole } from '../../support/identity/in-console.ts'
import { signed } from '../../support/identity/people.ts'

const service = await startTestService()

const twoOwners = { aboveEuros: 0, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

describe('the challenge that a refusal links to', () => {
  let owner: Awaited<ReturnType<typeof service.owner>>
  let ada: InConsole
  let path: string
  beforeAll(async () => {
    owner = await service.owner()
    ;[ada] = (await peopleInConsole(service, owner, ['owner', 'owner'])) as [InConsole, InConsole]
    path = `/agents/${(await anAgentUnder(owner.client, {})).id}/tokens`
  })

  const ask = (body: object = {}, headers: object = {}) =>
    http(service.url, 'POST', path, {
      headers: { ...ada.headers, ...headers },
      body: { label: 'Laptop', ...body },
    })
  const read = (id: string, by: object) => http(service.url, 'GET', `/passkeys/challenges/${id}`, by)
  const linkedIn = ({ headers }: Awaited<ReturnType<typeof ask>>) =>
    String(linkedChallengeId(headers.get('link')))
  const told = ({ status, headers }: Awaited<ReturnType<typeof ask>>) => [status, headers.get('x-error-code')]
  const unknown = [404, 'challenge_not_found']

  test('stands in no member of the error, and is read by the session that asked, as often as it wants', async () => {
    const refused = await ask()
    expect([told(refused), Object.keys(refused.body)]).toEqual([[400, 'assertion_required'], ['error']])
    const id = linkedIn(refused)
    expect(refused.headers.get('link')).toBe(`</passkeys/challenges/${id}>; rel="challenge"`)
    const first = await read(id, { headers: ada.headers })
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(first.body).toMatchObject({
      challengeId: id,
      sentence: expect.stringMatching(/^Let more be spent/),
    })
    expect(first.body.options.allowCredentials).toHaveLength(1)
    expect((await read(id, { headers: ada.headers })).body).toEqual(first.body)
  })

  test('is unknown to another session of the person, to a key with full access, and to another account', async () => {
    const id = linkedIn(await ask())
    const { headers } = await signedInTo(service, owner, { personId: ada.personId })
    const other = await service.owner()
    for (const by of [{ headers }, { token: owner.key }, { token: other.key }])
      expect(told(await read(id, by))).toEqual(unknown)
    expect((await read(id, {})).status).toBe(401)
  })

  test('lives until it is used or has expired', async () => {
    const [used, expired] = [linkedIn(await ask()), linkedIn(await ask())]
    const { body: challenge } = await read(used, { headers: ada.headers })
    expect((await ask({ webauthnAssertion: signed(challenge, ada.device) })).status).toBe(201)
    const back = `created_at = created_at - interval '6 minutes', expires_at = expires_at - interval '6 minutes'`
    await service.sql(`update passkey_challenges set ${back} where id = $1`, [expired])
    for (const id of [used, expired, 'challenge_none'])
      expect(told(await read(id, { headers: ada.headers }))).toEqual(unknown)
  })

  test('is the same in a repetition under the idempotency key', async () => {
    const key = { 'Idempotency-Key': `linked-${path}` }
    const [first, again] = [await ask({}, key), await ask({}, key)]
    expect([told(again), again.headers.get('idempotent-replayed')]).toEqual([told(first), 'true'])
    expect([again.text, linkedIn(again)]).toEqual([first.text, linkedIn(first)])
    expect((await read(linkedIn(again), { headers: ada.headers })).status).toBe(200)
  })

  test('is read by a key without a scope for passkeys, if that key was refused', async () => {
    const agent = await anAgentUnder(owner.client, { dailyLimitEuros: 50, approval: [twoOwners] as never })
    const { id } = await bodyOf(owner.client.policies.effective({ params: { agentId: agent.id } }))
    const body = { name: 'P', dailyLimitEuros: 90, approval: [twoOwners] }
    const { body: change } = await http(service.url, 'PUT', `/policies/${id}`, { token: owner.key, body })
    const scopes = ['policies:read', 'intents:approve'] as never
    const narrow = String((await aKey(owner.client, { scopes })).key)
    const approval = { token: narrow, body: {} }
    const refused = await http(service.url, 'POST', `/change-requests/${change.id}/approve`, approval)
    expect(told(refused)).toEqual([400, 'assertion_required'])
    expect((await read(linkedIn(refused), { token: narrow })).status).toBe(200)
    expect(told(await read(linkedIn(refused), { token: owner.key }))).toEqual(unknown)
  })
})
