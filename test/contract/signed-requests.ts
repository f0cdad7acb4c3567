import { describe, expect, test } from '@jest/globals'
import { sandboxSignatureHeaders } from '../../src/adapters/card-processor/sandbox-signature.ts'
import { deriveSecrets } from '../../src/ports/vault.ts'
import { clock } from '../../src/values/clock.ts'
import { cents } from '../../src/values/money.ts'
import { aPayingCard, bookshop, networkBefore } from '../support/cards/network.ts'
import { signed } from '../support/cards/signatures.ts'
import { EVENTS_SECRET, signed as signedByStripe } from '../support/cards/stripe.ts'
import { type checkedSender, isRoute, signedCases, type worldsOf } from '../support/contract/contract.ts'
import { bodyOf } from '../support/factories.ts'
import {
  DASHBOARD_SECRET,
  ENCRYPTION_KEY,
  type RequestOptions,
  type TestService,
} from '../support/harness.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

interface Worlds extends Pick<Awaited<ReturnType<typeof worldsOf>>, 'owner' | 'agentToken'> {
  readonly service: TestService
  readonly recorder: SqlRecorder
  readonly send: ReturnType<typeof checkedSender>
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const IDENTITY_SECRETS = deriveSecrets('sandbox identity notices', ENCRYPTION_KEY)

/** The headers with which the simulated system of an operation sends these bytes. */
const signers: Readonly<Record<string, (body: string) => Record<string, string>>> = {
  'authorizations.receive': body => signed(body),
  'fund.receive': body => signedByStripe(body, EVENTS_SECRET, clock.real()),
  'kyc.receive': body => sandboxSignatureHeaders(IDENTITY_SECRETS, body, 'identity-provider-signature'),
}

/** Tests the operations that authenticate only by a signature over their bytes. */
export function testSignedRequests({ service, recorder, owner, agentToken, send }: Worlds): void {
  const credentials: [string, RequestOptions][] = [
    ['nothing', {}],
    ['an owner’s key', { token: owner.key }],
    ['an agent’s token', { token: agentToken }],
    ['the dashboard’s secret', { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } }],
    ['a signature that is none', { headers: { 'card-processor-signature': 'guess' } }],
    ['a signature of other bytes', { headers: signed('{}') }],
    ['a signature by another secret', { headers: signed('{"id":', { key: '1'.repeat(64) }) }],
    ['a signature of an hour ago', { headers: signed('{"id":', { secondsAgo: 3_600 }) }],
  ]

  describe.each(signedCases)('a call of %s', (key, registered) => {
    const { method, path } = registered.operation

    test.each(credentials)('with %s is a 401, before its body is read', async (_, options) => {
      const { status, headers } = await send(registered, path, { ...options, body: '{"id":' })
      expect([status, headers.get('x-error-code')]).toEqual([401, 'unauthenticated'])
    })

    test('with a signature counts against no address, and one without does', async () => {
      const body = '{"id":'
      const headers = signers[key]?.(body) ?? {}
      const read = await service.http(method, path, { headers, body })
      expect([read.status, read.headers.get('x-ratelimit-remaining')]).toEqual([400, null])
      const unread = await service.http(method, path, { body })
      expect(Number(unread.headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0)
    })

    test('is reached by its own method only, and under /v1', async () => {
      const others = METHODS.filter(name => !isRoute(name, path))
      expect(others).toHaveLength(METHODS.length - 1)
      for (const wrong of others) {
        const { status, headers } = await service.http(wrong, path)
        expect([status, headers.get('allow')]).toEqual([405, method])
      }
      expect((await service.http(method, `/v1${path}`)).status).toBe(401)
    })
  })

  describe('a message of the card processor', () => {
    test('knows no idempotency key: the id of a message is its key', async () => {
      const network = networkBefore(service)
      const { card } = await aPayingCard(owner.client, 100)
      const content = { ask: 0, amountCents: cents(2_500n), partialAllowed: false, merchant: bookshop }
      const messageOf = (authorizationId: string) =>
        network.messageOf(card.id, { kind: 'authorization', authorizationId, ...content })
      const headers = { 'idempotency-key': 'one' }
      const one = await network.deliver(await messageOf('one'), { headers })
      const other = await network.deliver(await messageOf('other'), { headers })
      expect([one.status, other.status, one.headers.get('idempotent-replayed')]).toEqual([200, 200, null])
      const params = { id: card.id }
      expect((await bodyOf(owner.client.authorizations.list({ params, query: {} }))).data).toHaveLength(2)
    })

    test('waits for PostgreSQL as rarely as a group commit may', async () => {
      const network = networkBefore(service)
      const { card } = await aPayingCard(owner.client, 100)
      await network.authorize(card.id, 10)
      const message = await network.messageOf(card.id, {
        kind: 'authorization',
        authorizationId: `measured`,
        ask: 0,
        amountCents: cents(2_500n),
        partialAllowed: false,
        merchant: bookshop,
      })
      await recorder.measure('authorizations.receive', () => network.deliver(message))
      expect(recorder.roundTrips.get('authorizations.receive')).toBeLessThanOrEqual(7)
    })
  })
}
