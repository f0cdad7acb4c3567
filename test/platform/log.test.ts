import { describe, expect, test } from '@jest/globals'
import { formatLogLine, redactor } from '../../src/platform/log.ts'
import { newId } from '../../src/values/ids.ts'
import { quickestOf } from '../support/longest-turn.ts'

const redact = redactor([])

describe('a log line', () => {
  test('keeps the owner’s id, which is not a secret', () => {
    const line = JSON.stringify({ ownerId: newId('customer'), actorId: newId('key'), of: newId('receipt') })
    expect(redact(line)).toBe(line)
  })

  const secret = 'tVeXB2wgcU6M1zEb7cXL69VO9GRKW8xtSHDxzgx4JVX'
  test.each([
    `sk_live_${secret}`,
    `at_test_${secret}`,
    `trace_at_test_${secret}`,
    `${newId('customer')}_sk_live_${secret}`,
    `cst_${secret}`,
    `pt_${secret}`,
    `trace_pt_${secret}`,
    `dlg_${secret}`,
    `dvc_${secret}`,
    `whsec_${secret}`,
    `whsec_+/${secret}=`,
  ])('redacts %s', text => {
    expect(redact(text)).toContain('[secret]')
    expect(redact(text)).not.toContain(secret)
  })

  test.each([
    ['postgres://ada:pa/ss:w0rd@db/pay', 'postgres://ada:[secret]@db/pay'],
    ['"amqp://ada:one@a" and "amqp://bo:two@b"', '"amqp://ada:[secret]@a" and "amqp://bo:[secret]@b"'],
    ['://x:y ://ada:one@a', '://x:y ://ada:[secret]@a'],
    ['://x:y://ada:one@a', '://x:[secret]@a'],
    ['http://127.0.0.1:8080/a "b@c"', 'http://127.0.0.1:8080/a "b@c"'],
  ])('redacts the password in %s', (line, redacted) => {
    expect(redact(line)).toBe(redacted)
  })

  test.each(['://x:', '://', 'cookie ', 'authorization:"', 'sk_', 'whsec_', 'custom'])(
    'of 100 kB of %s is redacted in a time that grows with its length',
    part => {
      const timeOf = (length: number): number =>
        quickestOf(3, () => redact(part.repeat(length / part.length)))
      timeOf(10_000)
      // If each match rescans the rest of the line, ten times the length takes a hundred times as long.
      expect(timeOf(100_000)).toBeLessThan(30 * Math.max(timeOf(10_000), 0.2))
    },
  )
})

describe('a log line on a terminal', () => {
  const head = { level: 30, time: '2026-11-22T10:55:46.870Z' }
  const served = {
    method: 'POST',
    operation: 'agents.create',
    path: '/agents',
    status: 201,
    milliseconds: 18.22,
  }
  const more = { requestId: '55d57c33', ownerId: 'customer_1', actorId: 'key_1', address: '127.0.0.1' }
  const told = (line: object): string => formatLogLine(JSON.stringify(line))

  test('tells a request in a few words, and of a refusal why and by which id', () => {
    expect(told({ ...head, ...served, ...more })).toBe('10:55:46 POST /agents 201 18 ms\n')
    expect(told({ ...head, ...served, ...more, status: 409, errorCode: 'external_id_taken' })).toBe(
      '10:55:46 POST /agents 409 18 ms external_id_taken 55d57c33\n',
    )
    expect(told({ ...head, method: 'GET', status: 404, errorCode: 'not_found', milliseconds: 0.4 })).toBe(
      '10:55:46 GET an unknown path 404 0 ms not_found\n',
    )
  })

  test('is not written for what a page is made of, unless it is missing', () => {
    const asset = {
      ...head,
      ...served,
      method: 'GET',
      operation: 'pages.docsAsset',
      path: '/docs/assets/{asset}',
    }
    expect(told({ ...asset, status: 200 })).toBe('')
    expect(told({ ...asset, status: 404, errorCode: 'asset_not_found' })).toContain('asset_not_found')
  })

  test('tells a warning with all that belongs to it', () => {
    expect(told({ ...head, level: 40, msg: 'sweep failed', err: { code: 'ECONNREFUSED' }, task: null })).toBe(
      '10:55:46 warn sweep failed err={"code":"ECONNREFUSED"}\n',
    )
  })

  test('shows characters that a terminal would interpret, and forges no second line', () => {
    const merchant = 'Shop\u001b]0;owned\u0007\u009b2J\u202egnp.'
    const line = told({ ...head, level: 40, msg: `no rule for ${merchant}\n10:55:46 all is well`, merchant })
    expect(line).toBe(
      String.raw`10:55:46 warn no rule for Shop\u001b]0;owned\u0007\u009b2J\u202egnp. 10:55:46 all is well merchant=Shop\u001b]0;owned\u0007\u009b2J\u202egnp.` +
        '\n',
    )
    const nested = told({ ...head, level: 50, msg: 'failed', err: { message: merchant } })
    expect(nested).not.toMatch(/[\p{Cc}\u202e](?!$)/u)
  })
})
