import { beforeEach, describe, expect, test } from '@jest/globals'
import { ATTEMPT_WINDOW_MS, MAX_CODE_ATTEMPTS } from '../../../src/kernel/database/attempt-limit.ts'
import { hashSecret } from '../../../src/kernel/database/credential.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { newUserCode, parseUserCode } from '../../../src/values/user-code.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { ENCRYPTION_KEY, http } from '../../support/harness.ts'
import { aDoorkeeper } from '../../support/identity/pairing.ts'
import { aWaitingDevice, otherProcess, service } from './service.ts'

type Person = Awaited<ReturnType<typeof aWaitingDevice>>['person']

const guess = ({ console: { headers } }: Person, userCode = newUserCode(), url = service.url) =>
  http(url, 'POST', '/sessions/device/lookup', { headers, body: { userCode } })

const FIND = 'select device_name from sessions where user_hash = any($1::text[])'

const letPass = (milliseconds: number) =>
  service.sql(
    `update wrong_guesses set last_at = last_at - $1 * interval '1 millisecond',
       wrong_at = array(select at - $1 * interval '1 millisecond' from unnest(wrong_at) as at)`,
    [milliseconds],
  )

describe('wrong codes', () => {
  // All requests of these tests come from one address.
  beforeEach(() => service.sql('delete from wrong_guesses'))

  test('cannot be ruled out by a copy of the database, without ENCRYPTION_KEY', async () => {
    const { device } = await aWaitingDevice({ deviceName: 'A copied row' })
    const code = String(parseUserCode(device.userCode))
    const find = async (hashes: readonly string[]) =>
      (await service.sql<{ device_name: string }>(FIND, [hashes])).map(({ device_name }) => device_name)
    expect(await find([hashSecret(`user code ${code}`), hashSecret(code)])).toEqual([])
    const { digests } = openVault(ENCRYPTION_KEY)
    expect(await find(digests(code, 'user codes of devices'))).toEqual(['A copied row'])
  })

  test('of fifty at once in two processes, ten are looked at', async () => {
    const { person } = await aWaitingDevice()
    const answers = await times(50, n => guess(person, newUserCode(), n % 2 ? service.url : otherProcess))
    expect(statusCounts(answers)).toEqual({ 404: MAX_CODE_ATTEMPTS, 429: 40 })
  })

  test('after ten of them the right one is not looked at either, until the first is ten minutes old', async () => {
    const { person, device } = await aWaitingDevice()
    for (let n = 0; n < MAX_CODE_ATTEMPTS; n++) await guess(person)
    const refused = await guess(person, device.userCode)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'too_many_guesses'])
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(ATTEMPT_WINDOW_MS / 1_000 - 60)
    expect(seconds).toBeLessThanOrEqual(ATTEMPT_WINDOW_MS / 1_000)
    await letPass(seconds * 1_000)
    expect((await guess(person, device.userCode)).status).toBe(200)
  })

  test('keep no request from being looked at when it is repeated under its key, once the time is over', async () => {
    const { person, device } = await aWaitingDevice()
    for (let n = 0; n < MAX_CODE_ATTEMPTS; n++) await guess(person)
    const headers = { ...person.console.headers, 'idempotency-key': 'the-right-code' }
    const look = () =>
      http(service.url, 'POST', '/sessions/device/lookup', { headers, body: { userCode: device.userCode } })
    const refused = await look()
    const again = await look()
    expect([refused, again].map(({ status }) => status)).toEqual([429, 429])
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(ATTEMPT_WINDOW_MS / 1_000 - 60)
    await letPass(ATTEMPT_WINDOW_MS)
    expect((await look()).status).toBe(200)
  })

  test('count in any ten minutes, wherever those begin', async () => {
    const { person } = await aWaitingDevice()
    for (let n = 0; n < 5; n++) await guess(person)
    await letPass(ATTEMPT_WINDOW_MS - 60_000)
    for (let n = 0; n < 5; n++) await guess(person)
    expect((await guess(person)).status).toBe(429)
    await letPass(60_001)
    const answers = [await guess(person), await guess(person)]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
  })

  test('of several people at one address count together', async () => {
    const { owner, person } = await aWaitingDevice()
    const other = await aDoorkeeper(service, owner, { by: person })
    for (let n = 0; n < MAX_CODE_ATTEMPTS; n++) await guess(n % 2 ? person : other)
    expect((await guess(other)).status).toBe(429)
  })

  test('of one who is stopped already cost others at the address nothing', async () => {
    const { owner, person, device } = await aWaitingDevice()
    const other = await aDoorkeeper(service, owner, { by: person })
    for (let n = 0; n < MAX_CODE_ATTEMPTS; n++) await guess(person)
    await service.sql(`delete from wrong_guesses where guesser like '%|from %'`)
    for (let n = 0; n < 2 * MAX_CODE_ATTEMPTS; n++) expect((await guess(person)).status).toBe(429)
    expect((await guess(other, device.userCode)).status).toBe(200)
  })

  test('are counted wherever a code is taken, and right ones nowhere', async () => {
    const { person, device } = await aWaitingDevice()
    const { headers } = person.console
    for (const path of [
      'lookup',
      'challenge',
      'deny',
      'lookup',
      'challenge',
      'deny',
      'lookup',
      'lookup',
      'lookup',
    ])
      await http(service.url, 'POST', `/sessions/device/${path}`, {
        headers,
        body: { userCode: newUserCode() },
      })
    for (let n = 0; n < 5; n++) expect((await guess(person, device.userCode)).status).toBe(200)
    // A code that no device can have is not a guess.
    for (let n = 0; n < 5; n++) expect((await guess(person, 'ABCD')).status).toBe(404)
    expect((await guess(person)).status).toBe(404)
    expect((await guess(person)).status).toBe(429)
  })

  test('a hundred thousand of them take weeks, and hit one in a hundred thousand times', () => {
    const codes = 20 ** 8
    const minutesNeeded = (100_000 / MAX_CODE_ATTEMPTS) * (ATTEMPT_WINDOW_MS / 60_000)
    expect(minutesNeeded / 60 / 24).toBeGreaterThan(69)
    // Each code lives ten minutes, in which one guesser has ten attempts.
    expect(100_000 / codes).toBeLessThan(1 / 100_000)
    expect(new Set(Array.from({ length: 1_000 }, newUserCode)).size).toBeGreaterThan(990)
    expect(parseUserCode('wdjbmjht')).toBe('WDJB-MJHT')
    expect(parseUserCode('AEIO-UAEI')).toBeUndefined()
  })
})
