import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { parseInput } from '../../../../src/derive/http/input.ts'
import { allInputs, membersOf } from '../../../support/contract/contract-members.ts'
import { credentials, operations, unknownId, World, withSession } from '../../../support/contract/world.ts'
import { startTestService } from '../../../support/harness.ts'

const service = await startTestService()
const owner = await withSession(service, await service.owner())
const world = new World(service, owner, { keeps: true })

/** The members that an id excludes. */
const EXCLUDED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'transfers.create toWalletId': ['beneficiaryId'],
  'transfers.challenge toWalletId': ['beneficiaryId'],
  'transfers.challenge parts.0.walletId': ['beneficiaryId', 'amountEuros'],
  'intents.simulate policyId': ['policy'],
  'intents.simulate agentId': ['policy'],
  'intents.simulate runId': ['policy'],
  'intents.simulate cardId': ['policy'],
  'cardRequests.create cardId': ['usage', 'displayName', 'controls'],
  'accessEvents.access fillerKeyId': ['publicKeyJwk'],
  'agentCredentials.create fillerKeyId': ['publicKeyJwk'],
  'credentials.redeem fillerKeyId': ['publicKeyJwk'],
  'checkout.credential fillerKeyId': ['publicKeyJwk'],
}

const ADDED_MEMBERS: Readonly<Record<string, object>> = {
  'transfers.challenge parts.0.walletId': { parts: [{ walletId: '', amountEuros: 5 }] },
  'cards.create intentId': { usage: 'single' },
}

const LIMIT_CHANGE = { type: 'limit_change', limits: { dailyLimitEuros: 100 } }

const prefixOf = (examples: readonly unknown[] = []): string | undefined =>
  /^([a-z]+)_01jd8x2m4ye7k9v0c3q5r6t8wz$/.exec(String(examples[0]))?.[1]

/** Every id that a body of the API can name. */
const ids = allInputs.flatMap(({ key, place, schema }) => {
  const registered = operations.find(operation => operation.key === key)
  if (!registered || place === 'query') return []
  return membersOf(schema).flatMap(({ path, schema: { examples } }) => {
    const prefix = prefixOf(examples)
    return prefix ? [{ key, registered, path, prefix }] : []
  })
})

/** The body with a value at this path, at any depth. */
function withMember(body: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  if (path === '') return value
  if (Array.isArray(body)) return body.map(item => withMember(item, rest.join('.'), value))
  const members = (body ?? {}) as Record<string, unknown>
  return { ...members, [name]: withMember(members[name], rest.join('.'), value) }
}

describe('an id in a body', () => {
  test('is found in more than twenty contracts', () => expect(ids.length).toBeGreaterThan(20))

  const filters = allInputs.flatMap(({ key, operation, place, schema }) =>
    place === 'body'
      ? []
      : membersOf(schema).flatMap(({ path, schema: { examples } }) =>
          prefixOf(examples) ? [{ key, operation, path }] : [],
        ),
  )

  test.each(filters)('that is empty is a 400 in the filter $path of $key, too', ({ operation, path }) => {
    expect(() => parseInput(operation, new URLSearchParams({ [path]: '' }), {})).toThrow(
      `${path}: must have at least 1 character`,
    )
  })

  describe.each(ids)('$key $path', ({ key, registered, path, prefix }) => {
    const send = async (value: string) => {
      const prepared = await world.prepare(registered)
      // Runs and cards belong to agents, so the body must name one.
      const isOfAgent = key === 'intents.simulate' && (path === 'runId' || path === 'cardId')
      const agentMember = isOfAgent ? { agentId: await world.idOf('agent') } : {}
      // Only the change of limits names a card.
      const ofCard = key === 'cardRequests.create' && path === 'cardId' ? LIMIT_CHANGE : {}
      const added = ADDED_MEMBERS[`${key} ${path}`]
      const exampleBody = { ...(prepared.body as object), ...agentMember, ...ofCard, ...added }
      const body = withMember(exampleBody, path, value) as Record<string, unknown>
      for (const name of EXCLUDED_MEMBERS[`${key} ${path}`] ?? []) delete body[name]
      const { headers, ...credential } = credentials(registered, owner)
      const idempotency = registered.operation.http?.keyRequired ? { 'idempotency-key': randomUUID() } : {}
      return world.send(registered, prepared.path, {
        ...credential,
        headers: { ...headers, ...idempotency },
        body,
      })
    }

    // A challenge is part of the signed data, so an unknown one is a wrong signature.
    if (prefix === 'challenge')
      test('of an unknown challenge is a 400', async () => {
        const { status, headers } = await send(unknownId(prefix).replace(/.$/, '0'))
        const codes = ['challenge_unknown', 'invalid_request']
        expect([status, codes]).toEqual([400, expect.arrayContaining([headers.get('x-error-code')])])
      })
    // The assistant's request is read first, and the example's is over.
    else if (key === 'oauth.approve' || key === 'oauth.challenge')
      test('of an unknown record is not reached', async () => {
        const { status, headers } = await send(unknownId(prefix).replace(/.$/, '0'))
        expect([status, headers.get('x-error-code')]).toEqual([410, 'request_expired'])
      })
    else
      test('of an unknown record is a 404', async () => {
        const { status, headers } = await send(unknownId(prefix).replace(/.$/, '0'))
        const code = headers.get('x-error-code')
        expect([status, code]).toEqual([404, expect.stringMatching(/^(\w+_not_found|unknown_reference)$/)])
      })

    test('that is empty is a 400 that names it', async () => {
      const { status, body } = await send('')
      expect([status, body.error]).toEqual([
        400,
        expect.stringContaining(`${path}: must have at least 1 character`),
      ])
    })
  })
})
