import './guarded-http/misbehaving-receivers.ts'
import './guarded-http/kept-alive.ts'
import './guarded-http/own-listener.ts'
import './guarded-http/requests.ts'
import './guarded-http/to-merchants.ts'
import './guarded-http/unusual-answers.ts'
import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import { harmlessUrls, hostileUrls } from '../support/http/hostile-urls.ts'
import { nameServer } from '../support/http/name-server.ts'

const { resolver } = await nameServer({})
const guard = guardedHttp({ resolver })

describe('the judgement of a URL', () => {
  test('is tried with more than 300 different hostile URLs', () => {
    expect(hostileUrls.length).toBeGreaterThan(300)
    expect(new Set(hostileUrls.map(([url]) => url)).size).toBe(hostileUrls.length)
  })

  test.each(hostileUrls)('refuses %j by the rule %s', async (url, rule) => {
    const refused = guard.judge(url)
    expect(refused?.rule).toBe(rule)
    expect(refused?.message).toMatch(/^The |^Port /)
    const sent = await guard.send({ url, method: 'GET', timeoutMs: 1_000, maxBytes: 1 })
    expect(sent).toEqual({ kind: 'refused', ...refused })
  })

  test.each(harmlessUrls)('allows %s', url => {
    expect(guard.judge(url)).toBeUndefined()
  })
})
