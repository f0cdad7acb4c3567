import { describe, expect, test } from '@jest/globals'
import { aConnection, anOwnerAtTheBrowser, mcp, service } from './people.ts'

const USE_UP = `update rate_limits set used = 4000000, resets_at = now() + interval '1 minute'`

const codeOf = async (token: string) => {
  const answer = await mcp(token, 'tools/list')
  return [answer.status, answer.headers.get('x-error-code')]
}

const LIMITED = [429, 'rate_limited']

describe('an assistant whose host sends the requests of many owners', () => {
  test('counts the assistants of each owner together, and what is no token of an assistant for the address', async () => {
    const owners = [await anOwnerAtTheBrowser(), await anOwnerAtTheBrowser()]
    const [one = '', other = ''] = await Promise.all(
      owners.map(async owner => (await aConnection(owner)).tokens.access_token),
    )
    const [{ key } = { key: '' }] = owners
    expect(await codeOf(key)).toEqual([200, null])
    await service.sql(`${USE_UP} where client not like '% %'`)
    expect(await codeOf(key)).toEqual(LIMITED)
    expect(await codeOf(`${one}x`)).toEqual(LIMITED)
    expect([await codeOf(one), await codeOf(other)]).toEqual([
      [200, null],
      [200, null],
    ])
    await service.sql(
      `${USE_UP} where client in (select max(client) from rate_limits where client like 'assistants %')`,
    )
    const codes = [await codeOf(one), await codeOf(other)]
    expect(codes.map(([status]) => status).toSorted()).toEqual([200, 429])
    await service.sql('delete from rate_limits')
  })
})
