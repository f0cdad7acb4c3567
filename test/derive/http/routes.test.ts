import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { operationAddresses } from '../../../src/kernel/contract/addresses.ts'
import { allOperations, area } from '../../../src/kernel/contract/area.ts'
import type { EventSchemas } from '../../../src/kernel/contract/events.ts'
import type { HotExternalHandler } from '../../../src/kernel/contract/handlers.ts'
import {
  bindHandlers,
  del,
  emptyBody,
  get,
  isWritingOperation,
  post,
} from '../../../src/kernel/contract/operation.ts'
import { routesTo } from '../../support/http/routing.ts'

const declaration = { summary: 'x', callers: ['public'] as const, returns: [204, emptyBody] as const }
const handler = () => undefined

const things = area(
  'Things',
  'Things.',
  bindHandlers(
    {
      list: get('/things', declaration),
      make: post('/things', declaration),
      best: get('/things/best', declaration),
      read: get('/things/{id}', declaration),
      burn: del('/things/{id}', declaration),
      part: get('/things/{id}/parts/{partId}', declaration),
      paid: get('/v1/paid/{id}', declaration),
    },
    {
      list: handler,
      make: handler,
      best: handler,
      read: handler,
      burn: handler,
      part: handler,
      paid: handler,
    },
  ),
)

const find = routesTo(allOperations({ things }))

describe('an address', () => {
  test.each([
    ['GET', '/things', 'things.list'],
    ['GET', '/v1/things', 'things.list'],
    ['POST', '/things', 'things.make'],
    ['GET', '/things/best', 'things.best'],
    ['GET', '/things/thing_1', 'things.read'],
    ['HEAD', '/things/thing_1', 'things.read'],
    ['DELETE', '/v1/things/thing_1', 'things.burn'],
    // The path without its own DELETE is matched as an id.
    ['DELETE', '/things/best', 'things.burn'],
    ['GET', '/paid/1', 'things.paid'],
    ['GET', '/v1/paid/1', 'things.paid'],
    ['GET', 'http://pay.example/v1/things?limit=1', 'things.list'],
  ])('%s %s leads to %s', async (method, path, key) =>
    expect(await find(method, path)).toMatchObject({ key }),
  )

  test('of every GET that writes answers HEAD without writing', () => {
    const writing = allOperations(areas).filter(
      ({ operation }) => operation.method === 'GET' && isWritingOperation(operation),
    )
    const unable = writing.filter(({ operation: { run = 'plain' }, handler }) => {
      if (run !== 'hot-external') return run === 'hot'
      return (handler as HotExternalHandler<unknown, unknown, never, EventSchemas>).begin.by !== 'reading'
    })
    expect(unable.map(({ key }) => key)).toEqual([])
  })

  test('has named parameters', async () => {
    expect(await find('GET', '/things/a/parts/b')).toMatchObject({ params: { id: 'a', partId: 'b' } })
  })

  test('exists with and without its version', () => {
    expect(operationAddresses('/things/{id}')).toEqual(['/things/{id}', '/v1/things/{id}'])
    expect(operationAddresses('/v1/paid/{id}')).toEqual(['/paid/{id}', '/v1/paid/{id}'])
  })

  test.each([
    ['wallets', 'accounts'],
    ['transfers', 'payments'],
    ['beneficiaries', 'vendors'],
    ['runs', 'workflows'],
    ['delegations', 'authorizations'],
    ['statements', 'bills'],
  ])('under /%s is the same under /%s', async (name, alias) => {
    const registeredOperations = allOperations(areas).filter(
      ({ operation: { path } }) => path.split('/')[1] === name,
    )
    const findAlias = routesTo(registeredOperations)
    const [list] = registeredOperations.filter(
      ({ operation: { method, path } }) => `${method} ${path}` === `GET /${name}`,
    )
    for (const address of [`/${name}`, `/${alias}`, `/v1/${name}`, `/v1/${alias}`])
      expect(await findAlias('GET', address)).toMatchObject({ key: list?.key })
    expect(await findAlias('GET', `/${alias}/a/nothing`)).toBeUndefined()
  })

  test.each([
    '/thing',
    '/things/',
    '/things/a/parts',
    '/v1/v1/things',
    '/v2/things',
    '',
    'things',
    '/things/a%2Fb',
    '/things/%zz',
    '/%zz',
    '/Things',
    '//things',
    '/v1',
    '*',
    '?',
  ])('%j leads nowhere', async path => expect(await find('GET', path)).toBeUndefined())

  test.each([
    ['PUT', '/things', ['GET', 'POST']],
    ['POST', '/things/a', ['GET', 'DELETE']],
    ['PATCH', '/v1/paid/a', ['GET']],
    ['TRACE', '/things', ['GET', 'POST']],
    ['OPTIONS', '/things', ['GET', 'POST']],
    ['PATCH', '/things/best', ['GET', 'DELETE']],
  ])('%s %s is refused with the allowed methods', async (method, path, allow) => {
    expect(await find(method, path)).toEqual({ allow })
  })
})
